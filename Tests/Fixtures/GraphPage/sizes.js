// How many sizes the titles have, at each scale: the body of a function.
return [1.5, 1, 0.5, 0.39, 0.31, 0.19, 0.1].map((scale) => {
  move(0, 0, scale);
  const titles = [...document.querySelectorAll('#titles text')].filter((title) => title.textContent !== '');
  return new Set(titles.map((title) => getComputedStyle(title).fontSize)).size;
}).join(' ');
