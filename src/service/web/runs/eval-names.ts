import { html, type Html } from '../../../report-kit/html.ts';

interface NamedEval {
  id: string;
  name: string;
}

/** Returns what renders the name of an eval, with its id if another eval of the list has the same name. */
export function createEvalNames(evals: readonly NamedEval[]): (named: NamedEval) => Html {
  const sameName = Map.groupBy(evals, ({ name }) => name);
  return ({ id, name }) =>
    (sameName.get(name)?.length ?? 0) > 1
      ? html`${name} <span class="soft">${id}</span>`
      : html`${name}`;
}
