import { existsSync, readdirSync, statSync } from 'node:fs';
import { join, sep } from 'node:path';

/** Returns the files of one directory with a suffix, sorted. */
export function listFiles(directory: string, suffix: string): string[] {
  const names = readdirSync(directory === '' ? '.' : directory);
  return names
    .filter((name) => name.endsWith(suffix))
    .sort()
    .map((name) => join(directory, name));
}

const FILES_MAX = 10_000;
const DEPTH_MAX = 20;

/**
 * Returns the files that match a pattern, sorted. `*` matches a part of a name, `?` one character,
 * `**` any directories. A directory matches all files in it and below with the suffix. Hidden
 * directories and node_modules are skipped.
 */
export function findFiles(pattern: string, suffix: string): string[] {
  const path = pattern.replaceAll(sep, '/');
  if (existsSync(pattern)) {
    if (!statSync(pattern).isDirectory()) return [pattern];
    return walkFiles(path.replace(/\/+$/, '')).filter((file) => file.endsWith(suffix));
  }
  const parts = path.split('/');
  const firstWildcard = parts.findIndex((part) => /[*?]/.test(part));
  if (firstWildcard < 0) return [];
  const base = parts.slice(0, firstWildcard).join('/');
  const start = firstWildcard === 0 ? '.' : base === '' ? '/' : base;
  const expression = globToRegExp(firstWildcard === 0 ? `./${path}` : path);
  return walkFiles(start).filter((file) => expression.test(file));
}

/** Returns an expression that matches a whole path or id. */
export function globToRegExp(glob: string): RegExp {
  const source = glob
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

function walkFiles(root: string): string[] {
  const files: string[] = [];
  const walk = (directory: string, depth: number): void => {
    if (depth > DEPTH_MAX || files.length >= FILES_MAX || !existsSync(directory)) return;
    for (const entry of readdirSync(directory, { withFileTypes: true })) {
      const path = directory === '/' ? `/${entry.name}` : `${directory}/${entry.name}`;
      const isSkipped = entry.name.startsWith('.') || entry.name === 'node_modules';
      if (entry.isDirectory() && !isSkipped) walk(path, depth + 1);
      else if (entry.isFile() && files.length < FILES_MAX) files.push(path);
    }
  };
  walk(root, 0);
  return files.sort();
}
