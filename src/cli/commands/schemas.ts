import { join } from 'node:path';
import * as z from 'zod';
import {
  schemas as contractSchemas,
  createAsyncApi,
  createContractDocuments,
  createOpenApi,
} from '../../contract/index.ts';
import { wrap } from '../../report-kit/terminal.ts';
import { defineCommand, optionalArgument, type ValuesOf } from '../command.ts';
import { didYouMean, UsageError } from '../errors.ts';
import { option, switchOption } from '../flags/option.ts';
import * as values from '../flags/values.ts';
import { createDirectory, writeJsonFile } from '../input/files.ts';
import { createTerminal } from '../output/terminal.ts';

/** The column of the text about a message. */
const TEXT_COLUMN = 26;

const positionals = {
  name: optionalArgument(
    z.string().describe('the name of a message'),
    'Message to print, such as ChatResponse',
  ),
};

const options = {
  openapi: option(
    values.oneOf(['service', 'sandbox']),
    'AREA',
    'Print the OpenAPI 3.1 document of the service or of a sandbox',
  ),
  asyncapi: switchOption('Print the AsyncAPI 3 document of the voice WebSocket'),
  out: option(values.filePath, 'DIR', 'Write all schemas and documents to this directory'),
};

export const schemas = defineCommand({
  description: [
    'Also prints the OpenAPI and AsyncAPI documents of the interface, from which other tools generate ' +
      'clients, servers, and documentation.',
  ],
  arguments: positionals,
  options,
  examples: [
    { command: 'sandbox-kit schemas' },
    { command: 'sandbox-kit schemas ChatResponse' },
    { command: 'sandbox-kit schemas --openapi service > openapi.json' },
    { command: 'sandbox-kit schemas --asyncapi > asyncapi.json' },
    { command: 'sandbox-kit schemas --out schemas' },
  ],
  run(flags) {
    checkSingleRequest(flags);
    const { name, openapi, asyncapi, out } = flags;
    if (out !== undefined) writeSchemas(out);
    else if (openapi !== undefined) printJson(createOpenApi(openapi));
    else if (asyncapi) printJson(createAsyncApi());
    else if (name !== undefined) printJson(findSchema(name));
    else listSchemas();
  },
});

function checkSingleRequest({
  name,
  openapi,
  asyncapi,
  out,
}: ValuesOf<typeof positionals & typeof options>): void {
  if (out !== undefined && name !== undefined) {
    throw new UsageError('--out writes all schemas because they refer to each other. Remove NAME.');
  }
  const given = [
    name !== undefined && 'NAME',
    openapi !== undefined && '--openapi',
    asyncapi && '--asyncapi',
    out !== undefined && '--out',
  ].filter((option) => option !== false);
  const [first = '', second] = given;
  if (second === undefined) return;
  const hint = second === '--out' ? ' --out writes all documents.' : ' Each prints one document.';
  throw new UsageError(`${first} and ${second} can't be combined.${hint}`);
}

function printJson(document: object): void {
  process.stdout.write(`${JSON.stringify(document, null, 2)}\n`);
}

function findSchema(name: string): object {
  const all = Object.values(contractSchemas);
  const schema = all.find(
    ({ title, $id }) => title.toLowerCase() === name.toLowerCase() || $id === name,
  );
  if (schema) return schema;
  const titles = all.map(({ title }) => title);
  const hint = didYouMean(name, titles, 'Run sandbox-kit schemas to list all messages.');
  throw new UsageError(`Unknown message ${JSON.stringify(name)}. ${hint}`);
}

function listSchemas(): void {
  const { write, style, width } = createTerminal(process.stdout);
  for (const { title, $comment } of Object.values(contractSchemas)) {
    const [first = '', ...rest] = wrap($comment, width - TEXT_COLUMN);
    write(`${title.padEnd(TEXT_COLUMN)}${style('dim', first)}\n`);
    for (const line of rest) write(`${' '.repeat(TEXT_COLUMN)}${style('dim', line)}\n`);
  }
}

function writeSchemas(directory: string): void {
  createDirectory(directory, '--out');
  const all = Object.values(contractSchemas);
  for (const schema of all) writeJsonFile(join(directory, schema.$id), schema, '--out');
  const documents = createContractDocuments();
  for (const [name, document] of Object.entries(documents)) {
    writeJsonFile(join(directory, name), document, '--out');
  }
  createTerminal(process.stdout).write(
    `Wrote ${all.length} schemas and ${Object.keys(documents).length} documents to ${directory}.\n`,
  );
}
