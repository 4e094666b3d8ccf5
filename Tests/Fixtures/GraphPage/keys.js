// Where the keyboard leads: the body of a function. No script can press Tab, so that the stops are listed.
const press = (key) =>
  document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
const here = () => document.activeElement.dataset.name ?? document.activeElement.id;
const stops = [...canvas.querySelectorAll('*')].filter((element) => element.tabIndex >= 0);
const steps = [stops.length + ' stop: ' + stops.map((element) => element.dataset.name).join(' ')];
stops[0].focus();
for (const key of ['ArrowRight', 'ArrowDown', 'ArrowDown', 'ArrowLeft', 'End', 'ArrowRight', 'Home']) {
  press(key);
  steps.push(key + ' ' + here());
}
if (getComputedStyle(document.activeElement.querySelector('.ring')).display === 'none') steps.push('no focus is seen');
const panel = document.getElementById('details');
press('Enter');
steps.push('Enter ' + here() + ' ' + (!panel.hidden && document.activeElement.ariaSelected));
const next = [...document.querySelectorAll('button, input, [tabindex]')].filter((element) => element.tabIndex >= 0);
next[next.indexOf(document.activeElement) + 1].focus();
steps.push('Tab to ' + here());
press('Escape');
steps.push('Escape ' + here() + ' ' + !panel.hidden);
search.value = 'planted';
search.dispatchEvent(new Event('input'));
search.focus();
press('ArrowDown');
steps.push('found ' + here());
press('ArrowDown');
steps.push('ArrowDown ' + here());
return steps.join('; ');
