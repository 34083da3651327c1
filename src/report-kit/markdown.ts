import { html } from './html.ts';

/** Text that is Markdown already. */
export class Markdown {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Text = string | Markdown;

/** A template tag for a line of Markdown. Escapes values that are not Markdown already. */
export function line(strings: TemplateStringsArray, ...values: readonly Text[]): Markdown {
  const pieces = strings.map((text, index) => text + toMarkdown(values[index] ?? ''));
  return new Markdown(pieces.join(''));
}

/** An item of a list, with items below it and a shell command. */
export interface ListItem {
  text: Text;
  details?: readonly Text[];
  command?: string | undefined;
}

/** A part of a document. Text is a paragraph. A part that is `undefined` or `false` is left out. */
export type Block =
  | Text
  | { heading: string }
  | { quote: Text }
  /** A list without items is left out. */
  | { list: readonly (Text | ListItem)[] }
  /** A table without rows is left out. */
  | { columns: readonly string[]; rows: readonly (readonly string[])[] }
  /** A section with a heading; left out when all of its blocks are. */
  | { title: string; blocks: readonly Block[] }
  /** Blocks that a reader unfolds. */
  | { summary: string; blocks: readonly Block[] }
  | undefined
  | false;

/** Writes a document with a heading. Escapes every text that is not Markdown already. */
export function renderMarkdown(heading: string, blocks: readonly Block[]): string {
  return `${joinBlocks([line`## ${heading}`, ...blocks]).join('\n')}\n`;
}

/** Returns the lines of blocks, with a blank line between two blocks. */
function joinBlocks(blocks: readonly Block[]): string[] {
  const shown = blocks.map(linesOf).filter((lines) => lines.length > 0);
  return shown.flatMap((lines, index) => (index === 0 ? lines : ['', ...lines]));
}

function linesOf(block: Block): string[] {
  if (block === undefined || block === false) return [];
  if (typeof block === 'string' || block instanceof Markdown) return [toMarkdown(block)];
  if ('heading' in block) return [`### ${escapeMarkdown(block.heading)}`];
  if ('quote' in block) return [`> ${toMarkdown(block.quote)}`];
  if ('list' in block) return block.list.flatMap(itemLines);
  if ('rows' in block) return tableLines(block.columns, block.rows);
  const content = joinBlocks(block.blocks);
  if ('summary' in block) {
    // Markdown has no effect in this line, because it is HTML.
    const opening = `<details>${html`<summary>${block.summary}</summary>`.text}`;
    return [opening, '', ...content, '', '</details>'];
  }
  return content.length === 0 ? [] : [...linesOf({ heading: block.title }), '', ...content];
}

function itemLines(item: Text | ListItem): string[] {
  if (typeof item === 'string' || item instanceof Markdown) return [`- ${toMarkdown(item)}`];
  const { text, details = [], command } = item;
  return [
    `- ${toMarkdown(text)}`,
    ...details.map((detail) => `  - ${toMarkdown(detail)}`),
    ...(command === undefined ? [] : ['', ...codeLines(command, 'sh', 2)]),
  ];
}

const toMarkdown = (text: Text): string =>
  typeof text === 'string' ? escapeMarkdown(text) : text.text;

/**
 * Escapes text for Markdown, so that text from a sandbox never becomes markup, a link, or a mention.
 * Text in backticks stays code.
 */
function escapeMarkdown(text: string): string {
  return text
    .split(/(?<!`)`([^`]+)`(?!`)/)
    .map((part, index) => (index % 2 === 1 ? `\`${part}\`` : escapeProse(part)))
    .join('');
}

/** Backslashes keep the raw text readable. A backslash does not prevent a mention. */
function escapeProse(text: string): string {
  return text
    .replaceAll(/[\\&<>`*[\]~$#!]|(?<![a-z0-9])_|_(?![a-z0-9])|(?<=\bwww)\.|:(?=\/\/)/gi, '\\$&')
    .replaceAll('@', '&#64;');
}

/** Writes any text as code. */
export function markdownCode(text: string): Markdown {
  const fence = '`'.repeat(longestRun(text) + 1);
  const pad = text.startsWith('`') || text.endsWith('`') ? ' ' : '';
  return new Markdown(`${fence}${pad}${text}${pad}${fence}`);
}

/** Returns a block of code in a language, indented by some spaces. */
function codeLines(text: string, language: string, indent: number): string[] {
  const fence = '`'.repeat(Math.max(3, longestRun(text) + 1));
  const lines = [`${fence}${language}`, ...text.split('\n'), fence];
  return lines.map((line) => ' '.repeat(indent) + line);
}

const longestRun = (text: string): number =>
  Math.max(0, ...(text.match(/`+/g) ?? []).map(({ length }) => length));

/** Writes the URL of the tested server as a link; another text is escaped. */
export function markdownLink(url: string): Text {
  return /^https?:\/\/[^\s<>]+$/i.test(url) ? new Markdown(`<${url}>`) : url;
}

/** Returns a table; an empty array when there are no rows. */
function tableLines(columns: readonly string[], rows: readonly (readonly string[])[]): string[] {
  if (rows.length === 0) return [];
  const escapeCell = (cell: string): string => escapeMarkdown(cell).replaceAll('|', '\\|');
  return [
    `| ${columns.join(' | ')} |`,
    `|${'---|'.repeat(columns.length)}`,
    ...rows.map((cells) => `| ${cells.map(escapeCell).join(' | ')} |`),
  ];
}
