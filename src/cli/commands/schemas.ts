import { join } from 'node:path';
import type { CommandModule } from 'yargs';
import { z } from 'zod';
import { schemas } from '../../contract/index.ts';
import { wrap } from '../../report-kit/terminal.ts';
import { makeFolder, writeTextFile } from '../input/files.ts';
import * as flags from '../flags/flags.ts';
import { suggestion } from '../../platform/suggest.ts';
import { terminalOf } from '../output/terminal.ts';
import { UsageError } from '../flags/usage-error.ts';

const schemasFlags = z.object({
  name: z.string().optional(),
  out: flags.filePath.optional(),
});

/** Where what is said of a message begins. */
const COLUMN = 26;

/** `sandbox-kit schemas [NAME]`: the JSON Schemas of every message. */
export const schemasVerb: CommandModule = {
  command: 'schemas [name]',
  describe: 'Show the JSON Schemas of the messages',
  builder: (yargs) =>
    yargs
      .usage('sandbox-kit schemas [NAME]\n\nLists the messages, or prints the schema of one.')
      .positional('name', { type: 'string', describe: 'a message, e.g. ChatResponse' })
      .option('out', { type: 'string', describe: 'write all schemas into this folder' })
      .epilogue(`Examples:
  sandbox-kit schemas ChatResponse
  sandbox-kit schemas --out schemas`),
  handler: (argv) => {
    const { name, out } = flags.parseFlags(schemasFlags, argv);
    if (out !== undefined && name !== undefined) {
      throw new UsageError('--out writes all schemas, since they refer to each other: omit NAME.');
    }
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
  const titles = Object.values(schemas).map(({ title }) => title);
  const meant = suggestion(name, titles, 'sandbox-kit schemas lists all');
  throw new UsageError(`NAME: there is no message ${JSON.stringify(name)}: ${meant}`);
}

function list(): void {
  const { write, style, width } = terminalOf(process.stdout);
  for (const { title, $comment } of Object.values(schemas)) {
    const [first = '', ...more] = wrap($comment, width - COLUMN);
    write(`${title.padEnd(COLUMN)}${style('dim', first)}\n`);
    for (const line of more) write(`${' '.repeat(COLUMN)}${style('dim', line)}\n`);
  }
}

function writeAll(folder: string): void {
  makeFolder(folder, '--out');
  for (const schema of Object.values(schemas)) {
    writeTextFile(join(folder, schema.$id), `${JSON.stringify(schema, null, 2)}\n`, '--out');
  }
  const { write } = terminalOf(process.stdout);
  write(`${Object.keys(schemas).length} schemas written to ${folder}\n`);
}
