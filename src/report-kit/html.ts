/** Text that is HTML already. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** What a template can contain. */
export type Part = string | number | Html | readonly Html[] | false | undefined;

/**
 * A template tag for HTML. Escapes values that are not HTML already; joins arrays with line breaks. Removes
 * the indents of its own text, but not those of values. Leaves out `undefined` and `false`, so that
 * `condition && html...` renders something only when the condition holds. Compare numbers
 * (`count > 0 && ...`), because 0 is rendered.
 */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  const pieces = withoutIndents(strings).map((text, index) => text + textOf(parts[index]));
  return new Html(pieces.join(''));
}

/** The texts of each template, without the indents of the source, which would be a tenth of a page. */
const textsOf = new WeakMap<TemplateStringsArray, readonly string[]>();

function withoutIndents(strings: TemplateStringsArray): readonly string[] {
  const known = textsOf.get(strings);
  if (known) return known;
  const texts = strings.map((text) => text.replaceAll(/\n\s+/g, '\n'));
  textsOf.set(strings, texts);
  return texts;
}

function textOf(part: Part): string {
  if (part === undefined || part === false) return '';
  if (part instanceof Html) return part.text;
  if (typeof part === 'object') return part.map(({ text }) => text).join('\n');
  return escape(String(part));
}

/** Renders the parts of a text in backticks as code. */
export function withCode(text: string): Html {
  const parts = text
    .split(/`([^`]+)`/)
    .map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`));
  return new Html(parts.map((part) => part.text).join(''));
}

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes text for the content of elements and for quoted attributes. */
function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? '');
}
