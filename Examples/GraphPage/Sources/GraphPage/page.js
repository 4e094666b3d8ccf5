'use strict';
const graph = JSON.parse(document.getElementById('data').textContent);
const plan = JSON.parse(document.getElementById('plan').textContent);
const placed = (box) => ({ ...box.origin, ...box.size });
Object.assign(graph, plan.size);
graph.files.forEach((file, index) => {
  Object.assign(file, placed(plan.files[index]), { title: plan.titles[index] });
});
graph.nodes.forEach((node, index) => Object.assign(node, placed(plan.nodes[index])));
graph.edges.forEach((edge, index) => {
  edge.bends = plan.bends[index].flatMap((point) => [point.x, point.y]);
});
const byId = (id) => document.getElementById(id);
const canvas = byId('canvas'), view = byId('view'), search = byId('search');
const SVG = 'http://www.w3.org/2000/svg';

// Names come from files that may be hostile: they become text and attributes, never markup.
function add(parent, tag, attributes = {}, text) {
  const isSVG = parent.namespaceURI === SVG;
  const element = isSVG ? document.createElementNS(SVG, tag) : document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  parent.append(element);
  return element;
}
const short = (text, limit) =>
  text.length <= limit ? text : text.slice(0, limit - 9) + '…' + text.slice(-8);

// ---- Drawing ----

for (const [id, path, fill] of [
  ['requires', 'M0 0L10 5L0 10z', 'context-stroke'], ['after', 'M0 0L10 5L0 10', 'none'],
  ['provides', 'M0 0L10 5L0 10z', 'var(--file)'], ['needs', 'M0 0L10 5L0 10z', 'context-stroke'],
]) {
  const marker = add(canvas.querySelector('defs'), 'marker', {
    id, viewBox: '-1 -1 12 12', refX: 10, refY: 5, markerWidth: 9, markerHeight: 9,
    markerUnits: 'userSpaceOnUse', orient: 'auto-start-reverse',
  });
  add(marker, 'path', { d: path, fill, stroke: 'context-stroke', 'stroke-width': 1.4 });
}

// One shape a kind, so that kinds are told apart without colour.
function shape(kind, w, h) {
  switch (kind) {
    case 'module': return ['rect', { width: w, height: h, rx: 8 }];
    case 'service': return ['rect', { width: w, height: h, rx: h / 2 }];
    case 'implementation':
      return ['path', { d: `M0 0H${w}V${h}H0zM6 0V${h}M${w - 6} 0V${h}` }];
    case 'target':
      return ['path', { d: `M10 0H${w - 10}L${w} ${h / 2}L${w - 10} ${h}H10L0 ${h / 2}z` }];
    case 'route': return ['path', { d: `M0 0H${w - 12}L${w} ${h / 2}L${w - 12} ${h}H0z` }];
    case 'other': return ['path', { d: `M0 0H${w - 10}L${w} 10V${h}H0z` }];
    default: return ['rect', { width: w, height: h }];
  }
}

for (const file of graph.files) {
  const titleHeight = file.title;
  file.element = add(byId('files'), 'g', {
    class: 'file', transform: `translate(${file.x} ${file.y})`, 'data-name': file.name,
  });
  add(file.element, 'title', {}, file.name);
  add(file.element, 'rect', { width: file.width, height: file.height, rx: 10 });
  // From afar a title fills its strip, and on a map the whole file; it never covers a box.
  file.title = add(byId('titles'), 'g', { transform: `translate(${file.x} ${file.y})` });
  const title = add(file.title, 'text');
  const room = Math.max(Math.floor((file.width - 28) / 7.6) - file.machine.length - 2, 12);
  const text = short(file.name.split('/').pop(), room);
  const widest = (file.width - 28) / (text.length * 0.62);
  title.style.setProperty('--middle', `${titleHeight / 2}px`);
  title.style.setProperty('--far', `${Math.max(Math.min(widest, titleHeight * 0.8), 13)}px`);
  title.style.setProperty('--map', `${Math.max(Math.min(widest, file.height / 3), 13)}px`);
  title.style.setProperty('--centre', `${file.height / 2}px`);
  add(title, 'tspan', {}, text);
  add(title, 'tspan', { class: 'machine', dx: 8 }, file.machine);
}
for (const finding of graph.findings) {
  for (const index of finding.nodes) {
    const file = graph.files[graph.nodes[index].file];
    if (file && finding.level !== 'remark') file.element.classList.add('wrong');
  }
}

function drawNode(parent, node) {
  const isWrong = node.isInCycle || node.findings.length > 0;
  const element = add(parent, 'g', {
    class: `node ${node.kind}${isWrong ? ' wrong' : ''}${node.file === null ? ' free' : ''}`,
    'data-name': node.name,
    transform: `translate(${node.x} ${node.y})`, tabindex: 0, role: 'button',
    'aria-label': `${node.caption} ${node.name}`,
  });
  add(element, 'title', {}, `${node.name}\n${node.place ?? node.caption}`);
  const [tag, attributes] = shape(node.kind, node.width, node.height);
  add(element, tag, { class: 'shape', ...attributes });
  const place = { x: node.width / 2, 'text-anchor': 'middle' };
  add(element, 'text', { class: 'name', ...place, y: 17 }, short(node.name, 34));
  const caption = (isWrong ? '⚠ ' : '') + short(node.caption, 40);
  add(element, 'text', { class: 'caption', ...place, y: 31 }, caption);
  return element;
}

// Where arrows go one way and the other between two boxes, each has a line of its own.
function route(from, to, bends) {
  const isBackward = to.x + to.width <= from.x;
  const isBeside = !isBackward && to.x < from.x + from.width;
  const height = (box, share) => box.y + box.height * share;
  if (from === to || isBeside && bends.length === 0) {
    const [right, toRight] = [from.x + from.width, to.x + to.width];
    const out = Math.max(right, toRight) + 36;
    const [start, end] = from === to ? [0.25, 0.75] : [0.7, 0.3];
    const [y, toY] = [height(from, start), height(to, end)];
    return `M${right} ${y}C${out} ${y} ${out} ${toY} ${toRight} ${toY}`;
  }
  const share = isBackward ? 0.78 : 0.4;
  const points = [[isBackward ? from.x : from.x + from.width, height(from, share)]];
  for (let i = 0; i < bends.length; i += 2) points.push([bends[i], bends[i + 1]]);
  points.push([isBackward || isBeside ? to.x + to.width : to.x, height(to, share)]);
  let path = `M${points[0]}`;
  for (let i = 1; i < points.length; i += 1) {
    const [[x, y], [nextX, nextY]] = [points[i - 1], points[i]];
    const half = (nextX - x) / 2;
    path += y === nextY ? `L${points[i]}`
      : `C${x + half} ${y} ${nextX - half} ${nextY} ${nextX} ${nextY}`;
  }
  return path;
}

for (const edge of graph.edges) {
  const [from, to] = [graph.nodes[edge.from], graph.nodes[edge.to]];
  edge.element = add(byId('edges'), 'path', {
    class: `edge ${edge.kind}${edge.isInCycle ? ' wrong' : ''}`,
    d: route(from, to, edge.bends), 'marker-end': `url(#${edge.kind})`,
  });
}
graph.nodes.forEach((node, index) => {
  node.element = drawNode(byId('nodes'), node);
  node.element.addEventListener('click', () => select(index));
  node.element.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' && event.key !== ' ') return;
    event.preventDefault();
    select(index);
  });
  node.element.addEventListener('focus', () => {
    if (node.element.matches(':focus-visible')) show(node);
  });
  node.element.addEventListener('pointerenter', () => light(index));
  node.element.addEventListener('pointerleave', () => light(selected));
});
byId('summary').textContent = graph.summary;

const legend = byId('legend').querySelector('svg');
['requires', 'after', 'provides'].forEach((kind, index) => {
  const x = index * 100;
  add(legend, 'path', {
    class: `edge ${kind}`, d: `M${x} 10H${x + 84}`, 'marker-end': `url(#${kind})`,
  });
  const words = { requires: 'requires', after: 'after, if there', provides: 'implements' };
  add(legend, 'text', { class: 'caption', x, y: 30 }, words[kind]);
});

// ---- Moving ----

const place = { x: 0, y: 0, scale: 1 };
function move(x, y, scale) {
  Object.assign(place, { x, y, scale: Math.min(4, Math.max(0.02, scale)) });
  view.setAttribute('transform', `translate(${place.x} ${place.y}) scale(${place.scale})`);
  view.classList.toggle('far', place.scale < 0.4);
  view.classList.toggle('map', place.scale < 0.2);
}
function zoom(factor, x = canvas.clientWidth / 2, y = canvas.clientHeight / 2) {
  const scale = Math.min(4, Math.max(0.02, place.scale * factor));
  const ratio = scale / place.scale;
  move(x - (x - place.x) * ratio, y - (y - place.y) * ratio, scale);
}
function fit() {
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  const scale = Math.min(
    1.25, (width - 48) / Math.max(graph.width, 1), (height - 120) / Math.max(graph.height, 1));
  move(
    (width - graph.width * scale) / 2, Math.max(24, (height - 72 - graph.height * scale) / 2), scale);
}
function show(node) {
  const scale = Math.max(place.scale, 0.8);
  move(
    canvas.clientWidth / 2 - (node.x + node.width / 2) * scale,
    canvas.clientHeight / 2 - (node.y + node.height / 2) * scale, scale);
}
canvas.addEventListener('wheel', (event) => {
  event.preventDefault();
  const box = canvas.getBoundingClientRect();
  const step = event.deltaMode === 1 ? event.deltaY * 24 : event.deltaY;
  zoom(Math.exp(-step / 500), event.clientX - box.left, event.clientY - box.top);
}, { passive: false });
const pointers = new Map();
canvas.addEventListener('pointerdown', (event) => {
  pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
});
addEventListener('pointermove', (event) => {
  const last = pointers.get(event.pointerId);
  if (!last) return;
  const [dx, dy] = [event.clientX - last.x, event.clientY - last.y];
  if (pointers.size === 1) {
    move(place.x + dx, place.y + dy, place.scale);
  } else {
    const other = [...pointers].find(([id]) => id !== event.pointerId)[1];
    const before = Math.hypot(last.x - other.x, last.y - other.y);
    const after = Math.hypot(event.clientX - other.x, event.clientY - other.y);
    const box = canvas.getBoundingClientRect();
    if (before > 0) zoom(after / before, other.x - box.left, other.y - box.top);
  }
  canvas.classList.add('moving');
  pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
});
for (const end of ['pointerup', 'pointercancel']) {
  addEventListener(end, (event) => {
    pointers.delete(event.pointerId);
    canvas.classList.remove('moving');
  });
}
byId('smaller').addEventListener('click', () => zoom(1 / 1.3));
byId('larger').addEventListener('click', () => zoom(1.3));
byId('fit').addEventListener('click', fit);
addEventListener('resize', () => { if (selected === null && !search.value) fit(); });

// ---- Choosing ----

const mostFindings = 1000;
let selected = null;
function light(index) {
  for (const edge of graph.edges) {
    edge.element.classList.toggle('near', edge.from === index || edge.to === index);
  }
}
function select(index) {
  if (selected !== null) graph.nodes[selected].element.classList.remove('selected');
  selected = index;
  light(index);
  const details = byId('details');
  details.replaceChildren();
  if (index === null) return tellAll(details);
  details.hidden = false;
  const node = graph.nodes[index];
  node.element.classList.add('selected');
  if (graph.findings.length > 0) {
    const back = add(details, 'button', { id: 'all' }, 'All findings');
    back.addEventListener('click', () => select(null));
  }
  add(details, 'h2', {}, node.name);
  add(details, 'p', {}, node.caption);
  for (const finding of node.findings) tell(details, graph.findings[finding]);
  if (node.attributes) {
    add(details, 'h3', {}, 'Attributes');
    for (const word of node.attributes.split(' ')) add(details, 'p', {}, word);
  }
  if (node.place) {
    add(details, 'h3', {}, 'Place');
    add(details, 'p', {}, node.place);
  }
  const words = {
    requires: ['Requires', 'Required by'], after: ['After, if there', 'Before'],
    provides: ['Implements', 'Implemented by'], needs: ['Needs', 'Needed by'],
  };
  for (const [kind, [out, into]] of Object.entries(words)) {
    list(details, out, graph.edges.filter((edge) => edge.kind === kind && edge.from === index)
      .map((edge) => edge.to));
    list(details, into, graph.edges.filter((edge) => edge.kind === kind && edge.to === index)
      .map((edge) => edge.from));
  }
}
function list(parent, title, indices) {
  if (indices.length === 0) return;
  add(parent, 'h3', {}, title);
  const items = add(parent, 'ul');
  for (const index of indices) {
    const button = add(add(items, 'li'), 'button', {}, graph.nodes[index].name);
    button.addEventListener('click', () => { select(index); show(graph.nodes[index]); });
  }
}

// What is wrong is beside the picture until a node is chosen.
function tell(parent, finding, isLinked) {
  const item = add(parent, 'div', { class: `finding ${finding.level}` });
  const node = finding.nodes[0];
  if (isLinked && node !== undefined) {
    const button = add(item, 'button', {}, finding.place);
    button.addEventListener('click', () => { select(node); show(graph.nodes[node]); });
  } else {
    add(item, 'p', { class: 'place' }, finding.place);
  }
  add(item, 'p', {}, `${finding.level}: ${finding.message}`);
  add(item, 'p', { class: 'remedy' }, finding.remedy);
}
function tellAll(details) {
  const count = graph.findings.length;
  details.hidden = count === 0;
  add(details, 'h2', {}, count === 1 ? '1 finding' : `${count} findings`);
  for (const finding of graph.findings.slice(0, mostFindings)) tell(details, finding, true);
  if (count > mostFindings) {
    add(details, 'p', {}, `and ${count - mostFindings} more, which section-dump verify lists`);
  }
}

// ---- Searching ----

let found = [], next = 0;
function find(text) {
  const wanted = text.trim().toLowerCase();
  const has = (value) => value.toLowerCase().includes(wanted);
  found = [];
  next = 0;
  graph.nodes.forEach((node, index) => {
    const file = node.file === null ? null : graph.files[node.file];
    node.isFound = wanted !== '' && (has(node.name) || has(node.caption)
      || (file !== null && has(file.name)));
    if (node.isFound) found.push(index);
    node.element.classList.toggle('found', node.isFound);
    node.element.classList.toggle('dimmed', wanted !== '' && !node.isFound);
  });
  for (const edge of graph.edges) {
    const isNear = graph.nodes[edge.from].isFound && graph.nodes[edge.to].isFound;
    edge.element.classList.toggle('dimmed', wanted !== '' && !isNear);
  }
  graph.files.forEach((file, index) => {
    const isNear = found.some((node) => graph.nodes[node].file === index);
    file.element.classList.toggle('dimmed', wanted !== '' && !isNear);
    file.title.classList.toggle('dimmed', wanted !== '' && !isNear);
  });
  byId('matches').textContent =
    wanted === '' ? '' : found.length === 0 ? 'nothing found' : `${found.length} found`;
}
function goOn(step) {
  if (found.length === 0) return;
  next = (next + step + found.length) % found.length;
  const node = graph.nodes[found[next]];
  byId('matches').textContent = `${next + 1} of ${found.length}`;
  select(found[next]);
  show(node);
}
search.addEventListener('input', () => {
  find(search.value);
  const hash = search.value === '' ? '' : `#search=${encodeURIComponent(search.value)}`;
  history.replaceState(null, '', location.pathname + location.search + hash);
});
search.addEventListener('keydown', (event) => {
  if (event.key !== 'Enter') return;
  goOn(selected === found[next] ? (event.shiftKey ? -1 : 1) : 0);
});
function readAddress() {
  const match = /^#search=(.*)$/.exec(location.hash);
  if (!match) return;
  try { search.value = decodeURIComponent(match[1]); } catch { search.value = match[1]; }
  find(search.value);
  if (found.length > 0 && found.length < graph.nodes.length) show(graph.nodes[found[0]]);
}
addEventListener('hashchange', readAddress);

addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === 'Escape') {
    search.value = '';
    search.dispatchEvent(new Event('input'));
    select(null);
    canvas.focus();
    search.blur();
    return;
  }
  if (event.target === search) return;
  const step = 80;
  const actions = {
    '/': () => search.focus(), '+': () => zoom(1.3), '=': () => zoom(1.3),
    '-': () => zoom(1 / 1.3), 0: fit,
    ArrowLeft: () => move(place.x + step, place.y, place.scale),
    ArrowRight: () => move(place.x - step, place.y, place.scale),
    ArrowUp: () => move(place.x, place.y + step, place.scale),
    ArrowDown: () => move(place.x, place.y - step, place.scale),
  };
  if (!actions[event.key]) return;
  event.preventDefault();
  actions[event.key]();
});
select(null);
fit();
readAddress();
