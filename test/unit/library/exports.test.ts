/** The exports of the package: every message as a type and as a JSON Schema. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { entryPoints } from '../../../packaging/entry-points.ts';
import { ROOT } from '../../support/repository.ts';

const { exports: entries } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  exports: Record<string, string | { types: string; default: string }>;
};
const schemas = readdirSync(join(ROOT, 'schemas'))
  .filter((file) => file.endsWith('.schema.json'))
  .map((file) => {
    const { title } = JSON.parse(readFileSync(join(ROOT, 'schemas', file), 'utf8')) as {
      title: string;
    };
    return { file, title };
  });

void t.test('every schema is importable by its title', (t) => {
  for (const { file, title } of schemas) {
    t.equal(entries[`./schemas/${title}.json`], `./schemas/${file}`, title);
  }
  const titled = Object.keys(entries).filter((entry) =>
    /^\.\/schemas\/[A-Z]\w*\.json$/.test(entry),
  );
  t.equal(titled.length, schemas.length, 'there are no other entries');
  t.end();
});

void t.test('every schema title is a type of the library', (t) => {
  const index = readFileSync(join(ROOT, 'library/index.ts'), 'utf8');
  t.match(index, /^export type \* from '\.\.\/src\/contract\/generated\/types\.ts';$/m);
  const types = readFileSync(join(ROOT, 'src/contract/generated/types.ts'), 'utf8');
  for (const { title } of schemas) {
    t.match(types, new RegExp(`^export (interface|type) ${title}\\b`, 'm'), title);
    // A name that index.ts exports itself would hide the message.
    const own = new RegExp(`^ {2}(type )?${title},$`, 'm');
    t.notMatch(index.slice(0, index.indexOf('export type *')), own, `${title} is not hidden`);
  }
  t.end();
});

void t.test('every entry point that is not built exists', (t) => {
  const sources: Readonly<Record<string, string>> = entryPoints;
  for (const [entry, target] of Object.entries(entries)) {
    const files = typeof target === 'string' ? [target] : Object.values(target);
    for (const file of files) {
      if (file.includes('*')) continue;
      const [, name = ''] = /^\.\/dist\/(?:bundle|types)\/(.*?)\.(?:d\.ts|js)$/.exec(file) ?? [];
      const source = sources[name] ?? file;
      t.ok(existsSync(join(ROOT, source)), `${entry}: ${source}`);
    }
  }
  t.end();
});
