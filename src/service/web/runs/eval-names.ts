import { html, type Html } from '../../../report-kit/html.ts';

interface NamedEval {
  id: string;
  name: string;
  version: string;
}

/**
 * Returns what renders the name of an eval: with its id if another eval of the list has the same name, and with
 * its version if the list has several, because the eval was edited.
 * @param linkToPage Returns the link to the page of an eval; undefined if it is not stored.
 */
export function createEvalNames(
  evals: readonly NamedEval[],
  linkToPage: (id: string) => string | undefined = () => undefined,
): (named: NamedEval) => Html {
  const idsOf = Map.groupBy(evals, ({ name }) => name);
  const versionsOf = Map.groupBy(evals, ({ id }) => id);
  const count = (named: readonly NamedEval[] = [], key: 'id' | 'version'): number =>
    new Set(named.map((each) => each[key])).size;
  return ({ id, name, version }) => {
    const parts = [
      ...(count(idsOf.get(name), 'id') > 1 ? [id] : []),
      ...(count(versionsOf.get(id), 'version') > 1
        ? [version === '' ? 'uploaded' : `version ${version}`]
        : []),
    ];
    const link = linkToPage(id);
    const shown = link === undefined ? html`${name}` : html`<a href="${link}">${name}</a>`;
    return parts.length === 0
      ? shown
      : html`${shown} <span class="soft">${parts.join(', ')}</span>`;
  };
}
