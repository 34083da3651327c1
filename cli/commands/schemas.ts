import { join } from 'node:path';
import * as z from 'zod';
import {
  schemas as contractSchemas,
  createAsyncApi,
  createContractDocuments,
  createOpenApi,
} from '../../src/contract/index.ts';
import { hangingIndent, wrap } from '../../src/report-kit/terminal.ts';
import { defineCommand, optionalArgument, type ValuesOf } from '../command.ts';
import { didYouMean, exitCodes, UsageError } from '../errors.ts';
import { option, switchOption } from '../../src/options/option.ts';
import * as values from '../../src/options/values.ts';
import { createDirectory, formatJson, writeTextFile } from '../output/files.ts';
import { createTerminal, type Terminal } from '../output/terminal.ts';

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
  run(flags, { process: { stdout, env } }) {
    checkSingleRequest(flags);
    const { name, openapi, asyncapi, out } = flags;
    const terminal = createTerminal(stdout, env);
    if (out !== undefined) writeSchemas(out, terminal);
    else if (openapi !== undefined) stdout.write(formatJson(createOpenApi(openapi)));
    else if (asyncapi) stdout.write(formatJson(createAsyncApi()));
    else if (name !== undefined) stdout.write(formatJson(findSchema(name)));
    else listSchemas(terminal);
    return exitCodes.ok;
  },
});

function checkSingleRequest({
  name,
  openapi,
  asyncapi,
  out,
}: ValuesOf<typeof positionals, typeof options>): void {
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

function listSchemas({ write, style, width }: Terminal): void {
  for (const { title, $comment } of Object.values(contractSchemas)) {
    const text = wrap($comment, width - TEXT_COLUMN).map((line) => style('dim', line));
    write(`${hangingIndent(title.padEnd(TEXT_COLUMN), text).join('\n')}\n`);
  }
}

function writeSchemas(directory: string, terminal: Terminal): void {
  createDirectory(directory, '--out');
  const all = Object.values(contractSchemas);
  const documents = createContractDocuments();
  const files = [
    ...all.map((schema) => [schema.$id, schema] as const),
    ...Object.entries(documents),
  ];
  for (const [name, document] of files) {
    writeTextFile(join(directory, name), formatJson(document), '--out');
  }
  terminal.write(
    `Wrote ${all.length} schemas and ${Object.keys(documents).length} documents to ${directory}.\n`,
  );
}
