import { schemas } from '../../../contract/index.ts';
import { renderFactList, type Fact } from '../../../report-kit/fact-list.ts';
import { html, type Html } from '../../../report-kit/html.ts';
import type { TextKind } from '../../operations/scenarios.ts';

/** The part of a schema that describes fields. */
interface FieldSchema {
  readonly [otherKeyword: string]: unknown;
  $ref?: string;
  description?: string;
  properties?: Readonly<Record<string, FieldSchema>>;
  /** Of a list: what each entry is. */
  items?: FieldSchema;
}

/** The schema of a document. */
interface DocumentSchema extends FieldSchema {
  definitions?: Readonly<Record<string, FieldSchema>>;
}

/** A reference to the interface, which the reader of a page has not open. */
const SECTION = / ?\(spec [^)]*\)/g;

function listFields(document: DocumentSchema, schema: FieldSchema = document, prefix = ''): Fact[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, { $ref, ...own }]) => {
    const field = $ref === undefined ? own : document.definitions?.[$ref.split('/').at(-1) ?? ''];
    return [
      [html`<code>${prefix}${name}</code>`, (field?.description ?? '').replaceAll(SECTION, '')],
      ...listFields(document, field, `${prefix}${name}.`),
      ...listFields(document, field?.items ?? {}, `${prefix}${name}[].`),
    ];
  });
}

const SCHEMAS: Readonly<Record<TextKind, DocumentSchema>> = {
  scenario: schemas.Scenario,
  persona: schemas.Persona,
};

/** Renders all fields of a scenario or persona with what they mean, folded. */
export const renderFields = (kind: TextKind): Html =>
  html`<details>
    <summary>All fields of a ${kind}</summary>
    ${renderFactList(listFields(SCHEMAS[kind]))}
  </details>`;
