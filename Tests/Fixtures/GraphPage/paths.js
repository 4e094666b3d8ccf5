// The paths that are shown, and what shows the folder that they begin in: the body of a function.
const texts = (selector) => [...document.querySelectorAll(selector)].map((element) => element.textContent);
move(0, 0, 1);
select(null);
const shown = [texts('#titles tspan:first-child').join(' '), ...texts('.finding .place')];
select(graph.nodes.findIndex((node) => node.isInCycle));
const absolute = ['summary', 'details', 'nodes', 'titles']
  .filter((id) => [...document.getElementById(id).querySelectorAll('text, p, button, h2, tspan'), document.getElementById(id)]
    .some((element) => element.childElementCount === 0 && element.textContent.includes(plan.folder.slice(0, -1))));
return shown.join('; ') + '; absolute: ' + absolute.join(' ');
