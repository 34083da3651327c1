/**
 * Returns the elements that a selector finds, if they have a type.
 *
 * @template {Element} T
 * @param {ParentNode} root
 * @param {string} selector
 * @param {new () => T} type
 */
function findAll(root, selector, type) {
  /** @type {(found: Element) => found is T} */
  const hasType = (found) => found instanceof type;
  return [...root.querySelectorAll(selector)].filter(hasType);
}

/**
 * Returns an element that the page must have.
 *
 * @template {Element} T
 * @param {ParentNode} root
 * @param {string} selector
 * @param {new () => T} type
 */
function findElement(root, selector, type) {
  const [found] = findAll(root, selector, type);
  if (!found) throw new Error(`The page has no ${selector}.`);
  return found;
}
