// How the panel behaves on a telephone: the body of a function.
const panel = document.getElementById('details');
const said = [innerWidth + ': ' + (panel.hidden ? 'closed' : 'open')];
document.getElementById('findings').click();
const box = panel.getBoundingClientRect();
const isSheet = box.left === 0 && box.right === innerWidth && box.bottom === innerHeight && box.top > innerHeight / 2;
said.push(isSheet ? 'sheet' : 'no sheet');
const isWithin = document.documentElement.scrollWidth <= innerWidth && document.documentElement.scrollHeight <= innerHeight;
said.push(canvas.clientHeight > 200 && canvas.clientWidth === innerWidth && isWithin ? 'room' : 'no room');
document.getElementById('close').click();
said.push(panel.hidden ? 'closed by its button' : 'left open by its button');
graph.nodes[0].element.dispatchEvent(new Event('click'));
const shape = graph.nodes[0].element.querySelector('.shape').getBoundingClientRect();
const isInSight = shape.height > 30 && shape.left >= 0 && shape.right <= innerWidth
  && shape.bottom < panel.getBoundingClientRect().top;
said.push(!panel.hidden && isInSight ? 'entry in sight' : 'entry out of sight');
dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape' }));
said.push(panel.hidden ? 'closed by Escape' : 'left open by Escape');
return said.join(', ');
