/** Formats a path as in code, for example `keys[0].owner` or `headers['X-Key']`. */
export function formatPath([first, ...rest]: readonly PropertyKey[]): string {
  const keys = rest.map((key) => {
    if (typeof key === 'number') return `[${key}]`;
    const text = JSON.stringify(String(key)).slice(1, -1);
    return /^[\w$]+$/.test(text) ? `.${text}` : `['${text}']`;
  });
  return [first === undefined ? '' : String(first), ...keys].join('');
}
