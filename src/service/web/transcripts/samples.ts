import type { TranscriptUpload } from '../../../contract/index.ts';
import type { TranscriptFormat } from '../../operations/transcript-file/read-transcripts.ts';

const transcripts: readonly TranscriptUpload[] = [
  {
    session_id: 't-1',
    started_at: '2026-11-20T09:30:00Z',
    turns: [
      { user_input: 'Where is my order?', agent_response: 'Please tell me its number.' },
      { user_input: 'It is A-1001.', agent_response: 'It was shipped, and arrives on Monday.' },
    ],
  },
  {
    session_id: 't-2',
    started_at: '2026-11-20T10:05:00Z',
    metadata: { tier: 'gold' },
    turns: [
      {
        user_input: 'Hi, do you have the "Trail 2" in blue?',
        agent_response: 'Yes, in sizes 8 to 11.\nWhich one do you need?',
        evaluation_metadata: { in_stock: true },
      },
    ],
  },
];

/** The same conversations in each format. */
export const samples: Readonly<Record<TranscriptFormat, string>> = {
  csv: writeTable([
    'session_id',
    'started_at',
    'user_input',
    'agent_response',
    'metadata',
    'evaluation_metadata',
  ]),
  json: `${JSON.stringify(transcripts, null, 2)}\n`,
  jsonl: transcripts.map((transcript) => `${JSON.stringify(transcript)}\n`).join(''),
};

function writeTable(names: readonly string[]): string {
  const rows = transcripts.flatMap(({ turns, ...conversation }) =>
    turns.map((turn) => {
      const values: Record<string, unknown> = { ...conversation, ...turn };
      return names.map((name) => {
        const value = values[name] ?? '';
        return typeof value === 'string' ? value : JSON.stringify(value);
      });
    }),
  );
  return [names, ...rows].map((cells) => `${cells.map(quote).join(',')}\n`).join('');
}

function quote(cell: string): string {
  return /[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
