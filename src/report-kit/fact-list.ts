import { html, type Html } from './html.ts';

/** A name, its value, and the class of the value. A fact without a value is not shown. */
export type Fact = readonly [
  name: Html | string,
  value: Html | string | undefined,
  className?: string,
];

/** A fact of plain text, for reports of every format. */
export type TextFact = readonly [name: string, value: string];

/** Renders names with their values. */
export function renderFactList(facts: readonly Fact[]): Html {
  const known = facts.filter(([, value]) => value !== undefined);
  return html`<dl>
    ${known.map(
      ([name, value, className]) =>
        html`<dt>${name}</dt>
          <dd${className !== undefined && html` class="${className}"`}>${value}</dd>`,
    )}
  </dl>`;
}

/** CSS rules of lists of facts. */
export const FACT_LIST_CSS = `
dl { display: grid; grid-template-columns: fit-content(45%) minmax(0, 1fr); gap: 0.2rem 1rem; margin: 0; }
`;
