import type { OutcomeEvidence } from '../../contract/index.ts';

/** A turn that a reasoning may cite. */
interface CitedTurn {
  sequence: number;
  userInput: string;
  agentResponse: string;
}

/** The most places that are kept. */
export const EVIDENCE_MAX = 20;

/** Quotations of 4 to 400 characters in common quotation marks. */
const QUOTATIONS = [
  /"([^"\n]{4,400})"/g,
  /“([^”\n]{4,400})”/g,
  /‘([^’\n]{4,400})’/g,
  /«([^»\n]{4,400})»/g,
  /`([^`\n]{4,400})`/g,
  /(?<![\p{L}\p{N}])'([^\n]{4,400}?)'(?![\p{L}\p{N}])/gu,
];

const CITED_TURNS = /\bturns?\s+#?(\d{1,4}(?:\s*(?:,|and|or|&)\s*\d{1,4})*)/gi;

/**
 * Finds the places in a transcript that a reasoning cites: quotations that occur verbatim, preferably in
 * a turn that it names, and the named turns that it does not quote.
 */
export function findCitedEvidence(
  reasoning: string,
  turns: readonly CitedTurn[],
): OutcomeEvidence[] {
  const named = new Set(
    Array.from(reasoning.matchAll(CITED_TURNS), ([, numbers = '']) => numbers.match(/\d+/g) ?? [])
      .flat()
      .map(Number),
  );
  const inOrder = [
    ...turns.filter(({ sequence }) => named.has(sequence)),
    ...turns.filter(({ sequence }) => !named.has(sequence)),
  ];
  const quotations = QUOTATIONS.flatMap((pattern) =>
    Array.from(reasoning.matchAll(pattern), ([, quotation = '']) => quotation),
  ).slice(0, EVIDENCE_MAX);
  const quoted = quotations.flatMap((quotation) => findQuotation(quotation, inOrder) ?? []);
  const quotedTurns = new Set(quoted.map(({ turn }) => turn));
  const others = turns.filter(({ sequence }) => named.has(sequence) && !quotedTurns.has(sequence));
  return [
    ...quoted,
    ...others.map(({ sequence }) => ({ turn: sequence, part: 'turn' as const })),
  ].slice(0, EVIDENCE_MAX);
}

function findQuotation(
  quotation: string,
  turns: readonly CitedTurn[],
): OutcomeEvidence | undefined {
  // Reasonings mark cuts with dots, and put the full stop of their sentence inside the quotation.
  const text = quotation.replace(/^(…|\.\.\.)/, '').replace(/(…|\.\.\.|[.,])$/, '');
  if (text.trim().length < 3) return undefined;
  for (const { sequence, userInput, agentResponse } of turns) {
    for (const [part, line] of [
      ['agent', agentResponse],
      ['user', userInput],
    ] as const) {
      const start = line.indexOf(text);
      if (start >= 0) return { turn: sequence, part, start, end: start + text.length };
    }
  }
  return undefined;
}
