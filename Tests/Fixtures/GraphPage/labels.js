// What a screen reader says of the graph, and how many buttons have no name: the body of a function.
const options = [...document.querySelectorAll('[role=listbox][aria-label] > [role=option]')];
const named = (element) => (element.getAttribute('aria-label') ?? element.textContent).trim() !== '';
const nameless = [...document.querySelectorAll('button, input, [role=option], aside h2')]
  .filter((element) => element.checkVisibility() && !named(element));
return 'listbox of ' + options.length + ': ' + options[0].getAttribute('aria-label') + '; ' + nameless.length + ' nameless';
