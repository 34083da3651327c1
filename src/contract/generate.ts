/**
 * Generates `generated/` from `schemas/`: types, validators, schemas, and protobuf messages as modules,
 * so that nothing is read from disk at run time. Then generates the OpenAPI and AsyncAPI documents in
 * `schemas/` from these and from `routes/`. Run it with `npm run generate`. With `--check` it writes
 * nothing and exits 1 if a file is out of date. With `--validators` it writes only the validators, the
 * only file that is not in git; `npm ci` does that.
 */
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import standalone from 'ajv/dist/standalone/index.js';
import { ISO_8601 } from './iso8601.ts';

const schemasDir = new URL('../../schemas/', import.meta.url);
const generatedDir = new URL('./generated/', import.meta.url);

interface MessageSchema {
  $id: string;
  title: string;
  [keyword: string]: unknown;
}

function readSchemas(): MessageSchema[] {
  const files = readdirSync(schemasDir).filter((file) => file.endsWith('.schema.json'));
  return files
    .sort()
    .map((file) => JSON.parse(readFileSync(new URL(file, schemasDir), 'utf8')) as MessageSchema);
}

const withHeader = (source: string): string =>
  `// Generated from schemas/ by src/contract/generate.ts, do not edit.\n${source}`;

const NOT_IN_TYPES = new Set(
  '$id $schema allOf if then else examples x-near-misses x-extension'.split(' '),
);

/** Compiles one document with every message as a definition, so that a shared part becomes one type. */
async function generateTypes(schemas: MessageSchema[]): Promise<string> {
  const { compile } = await import('json-schema-to-typescript');
  const titleById = new Map(schemas.map((schema) => [schema.$id, schema.title]));
  const definitions: Record<string, unknown> = {};
  for (const schema of schemas) {
    const { definitions: inner, ...rest } = schema;
    for (const [name, part] of Object.entries((inner ?? {}) as Record<string, { title: string }>)) {
      definitions[part.title] = part;
      titleById.set(`#/definitions/${name}`, part.title);
    }
    definitions[schema.title] = rest;
  }
  const text = JSON.stringify({ title: 'Unused', definitions }, (key, value: unknown) => {
    if (key === '$ref') return `#/definitions/${titleById.get(value as string) ?? ''}`;
    return NOT_IN_TYPES.has(key) ? undefined : (toUnion(value) ?? value);
  });
  const types = await compile(JSON.parse(text) as object, 'Unused', {
    bannerComment: '',
    unreachableDefinitions: true,
    additionalProperties: true,
    // Without this, an array with at most five items becomes a union of six tuples.
    maxItems: 1,
    style: { singleQuote: true, printWidth: 100 },
  });
  const messages = schemas.map(({ title }) => `  ${title}: ${title};`).join('\n');
  const readable = types
    .replace(/export interface Unused \{[^}]*\}\n?/, '')
    .replace(/( \*\n)? \* This interface was referenced by .*\n \* via the `definition` .*\n/g, '')
    .replace(/\/\*\*\n \*\/\n/g, '');
  return withHeader(
    `${readable}
/** Every message by its name. */
export interface Messages {
${messages}
}
`,
  );
}

/**
 * A field that takes an id or an object is written with if, then, and else, so that the validator reports
 * only violations of the form that was used. The type is a union of both.
 */
function toUnion(value: unknown): object | undefined {
  const { if: condition, else: schema, description } = (value ?? {}) as Record<string, unknown>;
  const isText = JSON.stringify(condition) === '{"type":"string"}';
  return isText ? { description, anyOf: [{ type: 'string' }, schema] } : undefined;
}

function generateValidators(schemas: MessageSchema[]): string {
  const ajv = new Ajv({
    schemas,
    strict: true,
    allErrors: true,
    // validate.ts describes the errors itself.
    messages: false,
    code: { source: true, lines: true },
    formats: { iso8601: ISO_8601 },
    keywords: ['x-near-misses', 'x-extension'],
  });
  const names = Object.fromEntries(schemas.map(({ title, $id }) => [title, $id]));
  const source = standalone.default(ajv, names);
  if (source.includes('require(')) {
    throw new Error('A schema uses a keyword whose generated code needs ajv at run time.');
  }
  return withHeader(`${source}\n`);
}

function generateSchemas(schemas: MessageSchema[]): string {
  const rows = schemas.map((schema) => `  ${schema.title}: ${JSON.stringify(schema)},`);
  return withHeader(`export const schemas = {\n${rows.join('\n')}\n} as const;\n`);
}

/** Converts the .proto file to the JSON form of protobufjs. */
async function generateProto(): Promise<string> {
  const { default: protobuf } = await import('protobufjs');
  const text = readFileSync(new URL('otlp-trace.proto', schemasDir), 'utf8');
  const { root } = protobuf.parse(text);
  return withHeader(`export const otlpProto = ${JSON.stringify(root.toJSON(), null, 2)};\n`);
}

function generateVersion(): string {
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  const { version } = JSON.parse(manifest) as { version: string };
  return withHeader(
    `/** The version of the kit, which the OpenAPI and AsyncAPI documents have. */\nexport const contractVersion = '${version}';\n`,
  );
}

/** Creates the documents for other tools. The module is imported when `generated/` is up to date. */
async function generateDocuments(): Promise<Record<string, string>> {
  const { createContractDocuments } = await import('./documents.ts');
  const texts = Object.entries(createContractDocuments()).map(([name, document]) => [
    name,
    `${JSON.stringify(document, null, 2)}\n`,
  ]);
  return Object.fromEntries(texts) as Record<string, string>;
}

const CHECK = process.argv.includes('--check');

/** Writes files or, with `--check`, compares them with the files in the directory. */
function writeOrCompare(directory: URL, shownPath: string, files: Record<string, string>): void {
  for (const [name, source] of Object.entries(files)) {
    const file = new URL(name, directory);
    if (!CHECK) writeFileSync(file, source);
    else if (!existsSync(file) || readFileSync(file, 'utf8') !== source) {
      console.error(`${shownPath}${name} is out of date. Run npm run generate.`);
      process.exitCode = 1;
    }
  }
}

const schemas = readSchemas();
writeOrCompare(generatedDir, 'src/contract/generated/', {
  'validators.cjs': generateValidators(schemas),
});
if (!process.argv.includes('--validators')) {
  writeOrCompare(generatedDir, 'src/contract/generated/', {
    'types.ts': await generateTypes(schemas),
    'schemas.ts': generateSchemas(schemas),
    'otlp-proto.ts': await generateProto(),
    'version.ts': generateVersion(),
  });
  writeOrCompare(schemasDir, 'schemas/', await generateDocuments());
}
