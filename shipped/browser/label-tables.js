/**
 * Names the cells of tables by their columns, so that rows can be stacked, even in a part of a page.
 *
 * @param {ParentNode} root
 */
function labelTables(root) {
  for (const table of findAll(root, 'table:not(.heat)', HTMLTableElement)) {
    const names = [...(table.tHead?.rows[0]?.cells ?? [])].map(({ firstChild }) =>
      firstChild?.textContent?.trim(),
    );
    for (const { cells } of table.tBodies[0]?.rows ?? []) {
      for (const [index, cell] of [...cells].entries()) cell.dataset['label'] = names[index] ?? '';
    }
    table.classList.add('labeled');
  }
}

labelTables(document);
