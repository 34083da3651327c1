/**
 * Shows the rows that contain every word of the search, also folded ones. The key / goes to the field,
 * and a link to a row that the search hides clears the search.
 *
 * @param {HTMLInputElement} field
 */
function searchRows(field) {
  const rows = findAll(document, '.searchable', HTMLElement).map((row) => ({
    row,
    text: row.textContent.toLowerCase(),
  }));
  const apply = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const fold of findAll(document, 'details.fold', HTMLDetailsElement)) {
      fold.open = words.length > 0;
    }
    for (const { row, text } of rows) {
      row.hidden = !words.every((word) => text.includes(word));
      if (!row.hidden) count += 1;
    }
    const found = words.length > 0 ? `${count} of ${rows.length}` : '';
    findElement(document, 'search output', HTMLElement).textContent = found;
  };
  findElement(document, 'search', HTMLElement).hidden = false;
  field.addEventListener('input', apply);
  document.addEventListener('keydown', (event) => {
    if (event.key !== '/' || event.target === field) return;
    event.preventDefault();
    field.focus();
  });
  addEventListener('hashchange', () => {
    const target = document.getElementById(location.hash.slice(1));
    if (!target?.closest('[hidden]')) return;
    field.value = '';
    apply();
    const fold = target.closest('details.fold');
    if (fold instanceof HTMLDetailsElement) fold.open = true;
    target.scrollIntoView();
  });
}

for (const field of findAll(document, '#search', HTMLInputElement)) searchRows(field);
