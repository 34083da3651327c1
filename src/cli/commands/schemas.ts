import { join } from 'node:path';
import { z } from 'zod';
import { schemas as contractSchemas } from '../../contract/index.ts';
import { wrap } from '../../report-kit/terminal.ts';
import { defineCommand, optionalArgument } from '../command.ts';
import { didYouMean, UsageError } from '../errors.ts';
import { option } from '../flags/option.ts';
import * as values from '../flags/values.ts';
import { createDirectory, writeJsonFile } from '../input/files.ts';
import { createTerminal } from '../output/terminal.ts';

/** The column of the text about a message. */
const TEXT_COLUMN = 26;

export const schemas = defineCommand({
  name: 'schemas',
  summary: 'List the JSON Schemas of all messages, or print one',
  arguments: {
    name: optionalArgument(
      z.string().describe('the name of a message'),
      'Message to print, such as ChatResponse',
    ),
  },
  options: { out: option(values.filePath, 'DIR', 'Write all schemas to this directory') },
  examples: [
    { command: 'sandbox-kit schemas' },
    { command: 'sandbox-kit schemas ChatResponse' },
    { command: 'sandbox-kit schemas --out schemas' },
  ],
  run({ name, out }) {
    if (out !== undefined && name !== undefined) {
      throw new UsageError(
        '--out writes all schemas because they refer to each other. Remove NAME.',
      );
    }
    if (out !== undefined) writeSchemas(out);
    else if (name === undefined) listSchemas();
    else process.stdout.write(`${JSON.stringify(findSchema(name), null, 2)}\n`);
  },
});

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
  createTerminal(process.stdout).write(`Wrote ${all.length} schemas to ${directory}.\n`);
}
