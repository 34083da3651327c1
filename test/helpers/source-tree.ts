import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import ts from 'typescript';

/** The root of the repository. */
export const root: string = join(import.meta.dirname, '../..');

/** A source file with what the house rules look at. */
export interface SourceFile {
  /** Path from the root. */
  path: string;
  text: string;
  imports: Import[];
  functions: { name: string; lines: number; line: number }[];
  /** Every `Date.now`, `process.env`, `setTimeout` and the like: what is called or read by name. */
  names: { name: string; line: number }[];
}

/** One import, static or dynamic. */
export interface Import {
  /** What the code says. */
  specifier: string;
  /** The file it leads to, from the root; undefined for a library. */
  path: string | undefined;
  line: number;
}

/** All files that git knows or would add, from the root. */
export function trackedFiles(): string[] {
  const args = ['ls-files', '--cached', '--others', '--exclude-standard'];
  return execFileSync('git', args, { cwd: root, encoding: 'utf8' })
    .split('\n')
    .filter((path) => path !== '' && existsSync(join(root, path)));
}

/** Reads a TypeScript file with the compiler's own parser. */
export function readSource(path: string): SourceFile {
  const text = readFileSync(join(root, path), 'utf8');
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const source: SourceFile = { path, text, imports: [], functions: [], names: [] };
  visit(file, file, source);
  return source;
}

function visit(node: ts.Node, file: ts.SourceFile, source: SourceFile): void {
  const specifier = specifierOf(node);
  const line = file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1;
  if (specifier !== undefined) {
    source.imports.push({ specifier, path: resolve(specifier, source.path), line });
  }
  if (ts.isFunctionLike(node) && 'body' in node && node.body) {
    const end = file.getLineAndCharacterOfPosition(node.end).line + 1;
    const name = node.name?.getText(file) ?? 'a function';
    source.functions.push({ name, lines: end - line + 1, line });
  }
  if (
    ts.isPropertyAccessExpression(node) ||
    ts.isCallExpression(node) ||
    ts.isNewExpression(node)
  ) {
    const named = ts.isPropertyAccessExpression(node) ? node : node.expression;
    source.names.push({ name: named.getText(file), line });
  }
  ts.forEachChild(node, (child) => visit(child, file, source));
}

function specifierOf(node: ts.Node): string | undefined {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) {
    return node.moduleSpecifier && textOf(node.moduleSpecifier);
  }
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
    return textOf(node.argument.literal);
  }
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
    return node.arguments[0] && textOf(node.arguments[0]);
  }
  return ts.isNewExpression(node) ? threadOf(node) : undefined;
}

/** The entry of a thread or a process: new URL(`name${extname(import.meta.url)}`, ...). */
function threadOf({
  expression,
  arguments: [first] = [] as never,
}: ts.NewExpression): string | undefined {
  const isEntry = expression.getText() === 'URL' && first && ts.isTemplateExpression(first);
  if (!isEntry || first.templateSpans[0]?.expression.getText() !== 'extname(import.meta.url)') {
    return undefined;
  }
  return `./${first.head.text}.ts`;
}

function textOf(node: ts.Node): string | undefined {
  return ts.isStringLiteralLike(node) ? node.text : undefined;
}

function resolve(specifier: string, from: string): string | undefined {
  return specifier.startsWith('.') ? normalize(join(dirname(from), specifier)) : undefined;
}
