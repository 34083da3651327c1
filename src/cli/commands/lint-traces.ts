import type { CommandModule } from 'yargs';
import { z } from 'zod';
import { wrap } from '../../report-kit/terminal.ts';
import { readBytes, writeTextFile } from '../input/files.ts';
import * as flags from '../flags/flags.ts';
import { terminalOf, type Terminal } from '../output/terminal.ts';
import { exitCodes } from '../flags/usage-error.ts';

const lintFlags = z.object({
  // The parser makes an empty text of a dash that stands alone.
  file: z.string({ error: 'expected one path' }).transform((path) => path || '-'),
  'conversation-id': z.string().min(1, 'expected an id, got ""').optional(),
  json: flags.filePath.optional(),
});

type Diagnosis = ReturnType<typeof import('../../service/index.ts').lintTraces>;

/** `sandbox-kit lint-traces FILE`: what ingest would make of a trace request. */
export const lintTracesVerb: CommandModule = {
  command: 'lint-traces <file>',
  describe: 'See what the service would make of OTLP traces',
  builder: (yargs) =>
    yargs
      .usage(
        'sandbox-kit lint-traces FILE\n\nReads an OTLP trace request, JSON or protobuf, gzip or not, as the service\ndoes, and says what would be kept, what would not, and how to mend it.',
      )
      .positional('file', { type: 'string', describe: 'an OTLP file; - is stdin' })
      .option('conversation-id', { type: 'string', describe: 'sent as X-Conversation-Id' })
      .option('json', { type: 'string', describe: 'write the diagnosis as JSON; - is stdout' })
      .epilogue(`Examples:
  sandbox-kit lint-traces traces.json
  cat traces.pb | sandbox-kit lint-traces - --conversation-id conv-1

Exit codes: 0 all well, 1 something is wrong, or nothing would be kept.`),
  handler: async (argv) => {
    const given = flags.parseFlags(lintFlags, argv);
    const bytes = readBytes(given.file, 'FILE');
    const { lintTraces } = await import('../../service/index.ts');
    const diagnosis = lintTraces(bytes, { conversationId: given['conversation-id'] });
    const out = terminalOf(given.json === '-' ? process.stderr : process.stdout);
    out.write(diagnosisText(diagnosis, out));
    if (given.json !== undefined) {
      writeTextFile(given.json, `${JSON.stringify(diagnosis, null, 2)}\n`, '--json');
    }
    const { spans, notes } = diagnosis;
    const isFine = spans > 0 && notes.every(({ level }) => level === 'info');
    process.exitCode = isFine ? exitCodes.fine : exitCodes.findings;
  },
};

const WHAT_IS_KEPT =
  'What is kept: spans with gen_ai.operation.name (chat, execute_tool or invoke_agent) whose ' +
  'conversation is named by gen_ai.conversation.id, or by --conversation-id for all of them. ' +
  'docs/service.md in the package lists all that is read.';

const counted = (count: number, noun: string): string =>
  `${count} ${noun}${count === 1 ? '' : 's'}`;

function diagnosisText(diagnosis: Diagnosis, { style, width }: Terminal): string {
  const { refused, conversations, notes, spans } = diagnosis;
  const lines = [
    refused
      ? style('red', 'The service would refuse this request.')
      : `${counted(spans, 'span')} would be kept, of ${counted(conversations.length, 'conversation')}.`,
    ...(refused ? wrap(refused.message, width) : []),
    ...conversations.map(
      ({ conversationId, spans, turns }) =>
        `  ${conversationId}  ${counted(spans, 'span')}, ${counted(turns, 'turn')}`,
    ),
    ...notes.flatMap(({ level, code, message, about }) => {
      const told = Object.entries(about).filter(([, value]) => value !== '');
      const facts = told.map(([name, value]) => `${name} ${value}`);
      const said = `${message}${facts.length === 0 ? '' : ` (${facts.join(', ')})`}`;
      const color = level === 'error' ? 'red' : level === 'warn' ? 'yellow' : 'dim';
      return [
        `${style(color, level)} ${code}`,
        ...wrap(said, width - 2).map((line) => `  ${line}`),
      ];
    }),
    ...(refused || spans > 0 ? [] : ['', ...wrap(WHAT_IS_KEPT, width)]),
  ];
  return `${lines.join('\n')}\n`;
}
