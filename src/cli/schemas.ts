import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { CommandModule } from 'yargs';
import { z } from 'zod';
import { schemas } from '../contract/index.ts';
import { writeTextFile } from './files.ts';
import * as flags from './flags.ts';
import { terminalOf } from './terminal.ts';
import { UsageError } from './usage-error.ts';

const schemasFlags = z.object({
  name: z.string().optional(),
  out: flags.filePath.optional(),
});

/** `sandbox-kit schemas [NAME]`: the JSON Schemas of every message. */
export const schemasVerb: CommandModule = {
  command: 'schemas [name]',
  describe: 'Show the JSON Schemas of the messages',
  builder: (yargs) =>
    yargs
      .usage('sandbox-kit schemas [NAME]\n\nLists the messages, or prints the schema of one.')
      .positional('name', { type: 'string', describe: 'a message, e.g. ChatResponse' })
      .option('out', { type: 'string', describe: 'write all schemas into this folder' })
      .example('sandbox-kit schemas ChatResponse', ''),
  handler: (argv) => {
    const { name, out } = flags.parseFlags(schemasFlags, argv);
    if (out !== undefined) writeAll(out);
    else if (name === undefined) list();
    else process.stdout.write(`${JSON.stringify(schemaOf(name), null, 2)}\n`);
  },
};

function schemaOf(name: string): object {
  const found = Object.values(schemas).find(
    ({ title, $id }) => title.toLowerCase() === name.toLowerCase() || $id === name,
  );
  if (found) return found;
  throw new UsageError(
    `NAME: there is no message ${JSON.stringify(name)}; sandbox-kit schemas lists all.`,
  );
}

function list(): void {
  const { write, paint } = terminalOf(process.stdout);
  for (const { title, $comment } of Object.values(schemas)) {
    write(`${title.padEnd(20)} ${paint('dim', $comment)}\n`);
  }
}

function writeAll(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true });
  } catch (error) {
    throw new UsageError(`--out: ${folder} can't be made: ${(error as Error).message}.`);
  }
  for (const schema of Object.values(schemas)) {
    writeTextFile(join(folder, schema.$id), `${JSON.stringify(schema, null, 2)}\n`, '--out');
  }
  const { write } = terminalOf(process.stdout);
  write(`${Object.keys(schemas).length} schemas written to ${folder}\n`);
}
