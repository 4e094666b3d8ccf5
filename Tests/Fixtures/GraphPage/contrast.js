// The texts with less contrast than 4.5 to 1, in the colours of the system's scheme: the body of a function.
const numbers = (colour) => colour.match(/[\d.]+/g).map(Number);
function light(colour) {
  const [red, green, blue] = numbers(colour).map((part) => (part / 255 <= 0.04045
    ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
function ground(element) {
  for (let at = element; at; at = at.parentElement) {
    const shape = at.matches('.node') ? at.querySelector('.shape') : at.matches('#titles') ? document.querySelector('.file rect') : null;
    if (shape) return getComputedStyle(shape).fill;
    const colour = getComputedStyle(at).backgroundColor;
    if (numbers(colour)[3] !== 0) return colour;
  }
  return getComputedStyle(document.body).backgroundColor;
}
const ratio = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
const faint = new Set();
function look() {
  for (const element of document.querySelectorAll('body *')) {
    const isText = [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim() !== '');
    if (!isText || element.matches('script, style, noscript, title') || !element.checkVisibility()) continue;
    const style = getComputedStyle(element);
    const colour = element.namespaceURI === SVG ? style.fill : style.color;
    if (ratio(light(colour), light(ground(element))) < 4.5) faint.add(' ' + element.textContent.slice(0, 20));
  }
}
select(null);
look();
select(0);
look();
return (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light') + ', faint:' + [...faint].join();
