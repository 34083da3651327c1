import type { TraceDiagnosis } from '../../src/service/index.ts';
import * as z from 'zod';
import { readBytes } from '../../library/input/files.ts';
import { formatCount } from '../../src/report-kit/format.ts';
import { wrap } from '../../src/report-kit/terminal.ts';
import { argument, defineCommand } from '../command.ts';
import { exitCodes } from '../errors.ts';
import { jsonReport } from '../../src/options/shared.ts';
import { option } from '../../src/options/option.ts';
import * as values from '../../src/options/values.ts';
import { writeJsonOutput } from '../output/files.ts';
import { createTerminal, type Terminal } from '../output/terminal.ts';

const inputFile = z.string().describe('the path of an OTLP trace request');

export const lintTraces = defineCommand({
  description: [
    'Reads an OTLP trace request as the service does (JSON or protobuf, plain or gzip), and explains what is stored, what is ignored, and how to fix it.',
  ],
  arguments: { file: argument(inputFile, 'OTLP trace request; - for stdin') },
  options: {
    conversationId: option(values.text, 'ID', 'Value of the X-Conversation-Id header'),
    json: { ...jsonReport, help: 'Write the diagnosis as JSON; - for stdout' },
  },
  examples: [
    { command: 'sandbox-kit lint-traces traces.json' },
    { command: 'cat traces.pb | sandbox-kit lint-traces - --conversation-id conv-1' },
  ],
  exitCodes: { 0: 'no problems', 1: 'warnings, or no span would be stored' },
  async run({ file, conversationId, json }, { process: { stdout, stderr, env } }) {
    const bytes = readBytes(file, 'FILE');
    const service = await import('../../src/service/index.ts');
    const diagnosis = service.lintTraces(bytes, { conversationId });
    const out = createTerminal(json === '-' ? stderr : stdout, env);
    out.write(formatDiagnosis(diagnosis, out));
    if (json !== undefined) writeJsonOutput(json, diagnosis, stdout);
    const { spans, notes } = diagnosis;
    const isClean = spans > 0 && notes.every(({ level }) => level === 'info');
    return isClean ? exitCodes.ok : exitCodes.findings;
  },
});

const STORED_SPANS =
  'The service stores spans with gen_ai.operation.name (chat, execute_tool, or invoke_agent) and ' +
  'a conversation id in gen_ai.conversation.id, or one --conversation-id for all of them. ' +
  'docs/service.md lists all attributes that it reads.';

function formatDiagnosis(diagnosis: TraceDiagnosis, { style, width }: Terminal): string {
  const { refused, conversations, notes, spans } = diagnosis;
  const lines = [
    refused
      ? style('red', 'The service would reject this request.')
      : `${formatCount(spans, 'span')} would be stored, in ${formatCount(conversations.length, 'conversation')}.`,
    ...(refused ? wrap(refused.message, width) : []),
    ...conversations.map(
      ({ conversationId, spans, turns }) =>
        `  ${conversationId}  ${formatCount(spans, 'span')}, ${formatCount(turns, 'turn')}`,
    ),
    ...notes.flatMap(({ level, code, message, about }) => {
      const details = Object.entries(about)
        .filter(([, value]) => value !== '')
        .map(([name, value]) => `${name} ${value}`);
      const names = details.join(', ');
      const isShown = refused?.message.startsWith(message) ?? false;
      const text = isShown ? names : names === '' ? message : `${message} (${names})`;
      const color = level === 'error' ? 'red' : level === 'warn' ? 'yellow' : 'dim';
      return [
        `${style(color, level)} ${code}`,
        ...wrap(text, width - 2).map((line) => `  ${line}`),
      ];
    }),
    ...(refused || spans > 0 ? [] : ['', ...wrap(STORED_SPANS, width)]),
  ];
  return `${lines.join('\n')}\n`;
}
