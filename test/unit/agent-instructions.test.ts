/** Instructions for coding agents (SKILL.md, llms.txt): every command, option, field, and link exists. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { loadCommands } from '../../cli/commands/index.ts';
import { isObject } from '../../src/platform/json.ts';
import * as library from '../../library/index.ts';
import { ROOT } from '../support/repository.ts';

const SKILL = 'shipped/skills/sandbox-kit/SKILL.md';
const PAGES = [SKILL, 'llms.txt'];
const commands = await loadCommands();
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

void t.test('every command and option exists', (t) => {
  let count = 0;
  for (const page of PAGES) {
    for (const [, line = ''] of read(page).matchAll(/npx sandbox-kit ([^`\n]+)/g)) {
      const [name = '', ...words] = (line.split(' -- ')[0] ?? '').split(/[ ;]+/);
      const command = commands.find((each) => each.name === name);
      if (name === 'COMMAND') continue;
      count += 1;
      if (!t.ok(command, `${page}: ${line}: the command exists`)) continue;
      for (const option of words.filter((word) => word.startsWith('--'))) {
        const known = option.slice(2).replace(/^no-/, '');
        t.ok(known in (command?.options ?? {}), `${page}: ${line}: ${option} exists`);
      }
    }
  }
  t.ok(count > 20, `${count} commands`);
  for (const page of PAGES) t.match(read(page), 'npx sandbox-kit exec --judge-client ', page);
  t.end();
});

void t.test('every field of a report exists in its schema', (t) => {
  const sections = read(SKILL)
    .split(/^(?=Fields of )/m)
    .slice(1);
  t.equal(sections.length, 3);
  for (const section of sections) {
    const title = /\(schema: `(\w+)`\)/.exec(section)?.[1] ?? '';
    const rows = section.match(/^\| `.*$/gm) ?? [];
    t.ok(rows.length > 5, `${title}: ${rows.length} rows`);
    for (const row of rows) {
      const [, names = ''] = row.split('|');
      for (const [, path = ''] of names.matchAll(/`([^`]+)`/g)) {
        t.ok(findSchema(title, path), `${title}: ${path}`);
      }
    }
  }
  t.notOk(findSchema('CheckReport', 'requirements[].verdicts'), 'an unknown field is detected');
  t.end();
});

void t.test('the verdicts of a requirement are in the schema', (t) => {
  const row = /^\| `requirements\[\]\.id`.*$/m.exec(read(SKILL))?.[0] ?? '';
  const named = [...(row.split('|')[2] ?? '').matchAll(/`(\w+)`/g)].map(
    ([, verdict = '']) => verdict,
  );
  const { definitions } = readSchema('CheckReport') as {
    definitions: { verdict: { enum: string[] } };
  };
  for (const verdict of named) t.ok(definitions.verdict.enum.includes(verdict), verdict);
  t.end();
});

void t.test('every import exists, and every link leads to a file', (t) => {
  for (const [, names = ''] of read(SKILL).matchAll(/import \{ ([^}]+) \} from 'sandbox-kit'/g)) {
    for (const name of names.split(', ')) t.ok(name in library, name);
  }
  const { exports } = JSON.parse(read('package.json')) as { exports: object };
  for (const [, path = ''] of read(SKILL).matchAll(/`sandbox-kit(\/[\w/]+)`/g)) {
    t.ok(`.${path}` in exports, `sandbox-kit${path}`);
  }
  for (const page of PAGES) {
    for (const [, link = ''] of read(page).matchAll(/\]\(([^)#:]+)\)/g)) {
      t.ok(existsSync(join(ROOT, dirname(page), link)), `${page}: ${link}`);
    }
  }
  t.end();
});

void t.test('the skill has a name and a description that fits the limit of skills', (t) => {
  const [, header = ''] = /^---\n(.*?)\n---\n/s.exec(read(SKILL)) ?? [];
  t.match(header, /^name: sandbox-kit$/m);
  const description = header.split('description: >-')[1] ?? '';
  t.ok(description.length > 100 && description.length < 1024, `${description.length} characters`);
  t.end();
});

type Schema = Record<string, unknown>;

/** A schema, and the document that its references point into. */
interface Place {
  root: Schema;
  schema: Schema;
}

/** Returns the schema with a title. */
function readSchema(title: string): Schema {
  const name = title.replaceAll(/(?<=.)[A-Z]/g, (letter) => `-${letter}`).toLowerCase();
  return JSON.parse(read(`schemas/${name}.schema.json`)) as Schema;
}

/** Finds the schema of a field such as `requirements[].id`. */
function findSchema(title: string, path: string): Schema | undefined {
  let place: Place | undefined = follow(readSchema(title));
  for (const name of path.replaceAll('[]', '.[]').split('.')) {
    if (!place) return undefined;
    const { schema, root }: Place = place;
    const next: unknown =
      name === '[]' ? schema['items'] : (schema['properties'] as Schema | undefined)?.[name];
    place = isObject(next) ? follow(next, root) : undefined;
  }
  return place?.schema;
}

/** Follows a reference to a definition or to another file. */
function follow(schema: Schema, root = schema): Place {
  const reference = schema['$ref'];
  if (typeof reference !== 'string') return { root, schema };
  const [file = '', pointer = ''] = reference.split('#');
  const target = file === '' ? root : (JSON.parse(read(`schemas/${file}`)) as Schema);
  let value: unknown = target;
  for (const name of pointer.split('/').slice(1)) value = isObject(value) ? value[name] : undefined;
  return isObject(value) ? follow(value, target) : { root: target, schema: {} };
}
