import { existsSync, readdirSync, statSync } from 'node:fs';
import { join, sep } from 'node:path';

const filesMax = 10_000;
const depthMax = 20;

/**
 * The files that a pattern names, sorted: `*` is any part of a name, `?` one character, `**` any
 * folders; a folder stands for what is below it with that ending. Hidden folders and node_modules
 * are not looked into.
 */
export function filesOf(pattern: string, ending: string): string[] {
  const path = pattern.replaceAll(sep, '/');
  if (existsSync(pattern)) {
    if (!statSync(pattern).isDirectory()) return [pattern];
    return below(path.replace(/\/+$/, '')).filter((file) => file.endsWith(ending));
  }
  const parts = path.split('/');
  const first = parts.findIndex((part) => /[*?]/.test(part));
  if (first < 0) return [];
  const base = parts.slice(0, first).join('/');
  const start = first === 0 ? '.' : base === '' ? '/' : base;
  const wanted = expressionOf(first === 0 ? `./${path}` : path);
  return below(start).filter((file) => wanted.test(file));
}

/** A pattern of names as a regular expression over the whole. */
export function expressionOf(pattern: string): RegExp {
  const source = pattern
    .split(/(\*\*\/|\*|\?)/)
    .map((part) => {
      if (part === '**/') return '(?:[^/]+/)*';
      if (part === '*') return '[^/]*';
      if (part === '?') return '[^/]';
      return part.replaceAll(/[\\^$.|+()[\]{}]/g, '\\$&');
    })
    .join('');
  return new RegExp(`^${source}$`, 'u');
}

function below(folder: string): string[] {
  const found: string[] = [];
  const walk = (from: string, depth: number): void => {
    if (depth > depthMax || found.length >= filesMax || !existsSync(from)) return;
    for (const entry of readdirSync(from, { withFileTypes: true })) {
      const path = from === '/' ? `/${entry.name}` : `${from}/${entry.name}`;
      const isHidden = entry.name.startsWith('.') || entry.name === 'node_modules';
      if (entry.isDirectory() && !isHidden) walk(path, depth + 1);
      else if (entry.isFile() && found.length < filesMax) found.push(path);
    }
  };
  walk(folder, 0);
  return found.sort();
}

/** The files of one folder with that ending, sorted. */
export function filesIn(folder: string, ending: string): string[] {
  const names = readdirSync(folder === '' ? '.' : folder).filter((name) => name.endsWith(ending));
  return names.sort().map((name) => join(folder, name));
}
