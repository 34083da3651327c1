import type { Random } from '../../../src/platform/random.ts';
import {
  agent,
  makeToolCallMessage,
  makeToolResultMessage,
  user,
  type StoredSpanSketch,
} from './stored-span.ts';

/** A generated conversation: its spans, and one line per turn that they contain. */
interface GeneratedConversation {
  spans: StoredSpanSketch[];
  /** `question > tools > answer`. */
  turns: string[];
}

/** How an SDK records a turn with one tool call. An operation of '' is an ignored span. */
const SHAPES = ['bare', 'traces', 'wrapper', 'wrappers', 'ignored'] as const;

/**
 * Generates a conversation of up to 5 turns with one tool call each. Times are whole milliseconds and
 * often equal. Span ids do not follow the order of time.
 */
export function generateConversation(random: Random): GeneratedConversation {
  const count = random.integer(1, 5);
  const spans: StoredSpanSketch[] = [];
  const turns: string[] = [];
  const history: object[] = [];
  for (let turn = 1; turn <= count; turn += 1) {
    const shape = SHAPES[random.integer(0, SHAPES.length - 1)] ?? 'bare';
    const callId = random.integer(0, 1) === 0 ? undefined : `call-${turn}`;
    spans.push(...makeTurn({ shape, turn, callId, random, history: [...history] }));
    history.push(user(`Q${turn}`), agent(`A${turn}`));
    turns.push(`Q${turn} > find > A${turn}`);
  }
  return { spans, turns };
}

type TimedSketch = StoredSpanSketch & { atMs: number };

interface TurnPlan {
  shape: (typeof SHAPES)[number];
  turn: number;
  callId: string | undefined;
  random: Random;
  history: readonly object[];
}

function makeTurn({ shape, turn, callId, random, history }: TurnPlan): StoredSpanSketch[] {
  const id = (name: string): string => `${random.integer(1, 9)}${name}${turn}`;
  const forMs = random.integer(0, 3);
  const atMs = turn * 1000;
  const question = [...history, user(`Q${turn}`)];
  const call = makeToolCallMessage('find', { turn }, callId);
  const more = [...question, call, makeToolResultMessage('r', callId)];
  const trace = (step: number): string => (shape === 'traces' ? `${turn}e${step}` : `${turn}e`);
  const first: TimedSketch = {
    id: id('a'),
    trace: trace(1),
    atMs,
    forMs,
    input: question,
    output: [call],
  };
  const tool: TimedSketch = {
    id: id('b'),
    trace: trace(1),
    operation: 'execute_tool',
    name: 'execute_tool find',
    atMs: atMs + forMs,
    forMs,
  };
  const last: TimedSketch = {
    id: id('c'),
    trace: trace(2),
    atMs: atMs + 2 * forMs,
    forMs,
    input: more,
    output: [agent(`A${turn}`)],
  };
  const wrap = (name: string, operation: string, from: number, length: number): TimedSketch => ({
    id: id(name),
    trace: trace(1),
    operation,
    name: 'agent',
    atMs: from,
    forMs: length,
  });
  switch (shape) {
    case 'bare':
    case 'traces':
      return [first, tool, last];
    case 'wrapper': {
      const outer = wrap('d', 'invoke_agent', atMs, 3 * forMs);
      return [...[first, tool, last].map((span) => ({ ...span, parent: outer.id })), outer];
    }
    case 'wrappers': {
      const [one, two] = [
        wrap('d', 'invoke_agent', atMs, 2 * forMs),
        wrap('f', 'invoke_agent', last.atMs, forMs),
      ];
      const inner = [first, tool].map((span) => ({ ...span, parent: one.id }));
      return [...inner, { ...last, parent: two.id }, one, two];
    }
    case 'ignored': {
      // The steps run long after the wrapper, so only the ignored spans show that they belong to it.
      const outer = { ...wrap('d', 'invoke_agent', atMs, 0), input: question };
      const step = { ...wrap('f', '', atMs, 0), parent: outer.id };
      const later = [{ ...first, input: [] }, tool, last].map((span) => ({
        ...span,
        atMs: span.atMs + 100,
      }));
      return [...later.map((span) => ({ ...span, parent: step.id })), step, outer];
    }
  }
}

/** Returns the items in random order. */
export function shuffle<Item>(items: readonly Item[], random: Random): Item[] {
  return items
    .map((item) => ({ item, position: random.fraction() }))
    .toSorted((a, b) => a.position - b.position)
    .map(({ item }) => item);
}
