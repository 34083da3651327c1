import { isAccepted, json, replaces, type When } from '../../../engine/mutants/combinators.ts';
import {
  mutantsOf,
  variantsOf,
  type ProxyResponse,
  type ProxyRequest,
  type Forward,
  type Mutant,
  type Transform,
  type TransformFactory,
  type Variant,
} from '../../../engine/mutants/mutant.ts';
import { hasKey, hasWrongKey, idIn, listOf, onItems, partOf, type Item } from '../edits.ts';

const mutant = mutantsOf('service');
const variant = variantsOf('service');

// The judge waits for what does not come.
const slow = { clockFactor: 20 };

const CONVERSATION = /sk-[a-z0-9]{8}-[a-z0-9]{8}/g;

/** The conversations that a trace request names, each once. */
const idsIn = ({ body }: ProxyRequest): string[] => [...new Set(body.match(CONVERSATION) ?? [])];

/** A trace request with which nothing else is wrong. */
const isTaken: When = (asked) =>
  asked.endpoint === 'traces' &&
  /^application\/(json|x-protobuf)$/.test(asked.headers['content-type'] ?? '') &&
  asked.body.includes('gen_ai.conversation.id') &&
  hasKey(asked) &&
  !hasWrongKey(asked);

/** Has a hand in what is said of conversations that go on after they were closed. */
function knowingClosed(
  edit: (item: Item) => void,
  onLate: (asked: ProxyRequest, forward: Forward) => Promise<ProxyResponse> = (asked, forward) =>
    forward(asked),
): TransformFactory {
  return (): Transform => {
    const closed = new Set<string>();
    const late = new Set<string>();
    const change = onItems('production', (item) => {
      if (late.has(String(item['source_session_id']))) edit(item);
    })();
    return async (asked, forward, clock) => {
      const id = idIn(asked.path);
      const isLate = isTaken(asked) && idsIn(asked).some((one) => closed.has(one));
      if (isLate) {
        for (const one of idsIn(asked)) late.add(one);
        return onLate(asked, forward);
      }
      const reply = await change(asked, forward, clock);
      if (asked.endpoint === 'end' && id && reply !== 'dropped' && isAccepted(reply)) {
        closed.add(id);
      }
      return reply;
    };
  };
}

const untouched = (): void => {};

function scoreTwice(item: Item): void {
  const outcomes = listOf(item, 'eval_outcomes');
  item['eval_outcomes'] = [...outcomes, ...outcomes];
  const summary = partOf(item, 'outcome_summary');
  for (const key of ['total_evaluations', 'passed_count', 'failed_count']) {
    summary[key] = Number(summary[key]) * 2;
  }
}

/** Has the service get another body where a request names two conversations. */
const withTwo =
  (rewrite: (body: string, first: string, second: string) => string): TransformFactory =>
  () =>
  async (asked, forward) => {
    const [first, second] = asked.endpoint === 'traces' ? idsIn(asked) : [];
    if (first === undefined || second === undefined) return forward(asked);
    const { bytes: _old, ...rest } = asked;
    return forward({ ...rest, body: rewrite(asked.body, first, second) });
  };

/** Keeps the spans of one conversation alone. */
function spansOf(body: string, id: string): string {
  const request = JSON.parse(body) as {
    resourceSpans: { scopeSpans: { spans: unknown[] }[] }[];
  };
  for (const { scopeSpans } of request.resourceSpans) {
    for (const scope of scopeSpans) {
      scope.spans = scope.spans.filter((span) => JSON.stringify(span).includes(id));
    }
  }
  return JSON.stringify(request);
}

/** Changes the sessions of conversations that closed while no evals were configured. */
function ofBacklog(edit: (item: Item) => void): TransformFactory {
  return (): Transform => {
    const unscored = new Set<string>();
    const change = onItems('production', (item) => {
      if (unscored.has(String(item['source_session_id']))) edit(item);
    })();
    return async (asked, forward, clock) => {
      const reply = await change(asked, forward, clock);
      const id = idIn(asked.path);
      if (asked.endpoint !== 'end' || reply === 'dropped' || id === undefined) return reply;
      if (/"evaluations_queued":0(?!.*already)/.test(reply.body)) unscored.add(id);
      return reply;
    };
  };
}

/** Asks the service once, for the refusal while there are no evals; then answers by itself. */
function leavesBacklog(): Transform {
  let isRefused = false;
  return async (asked, forward) => {
    if (!scoresBacklog(asked)) return forward(asked);
    if (isRefused) return json(200, { conversations: 2, evaluations_queued: 4, runs: [] });
    isRefused = true;
    return forward(asked);
  };
}

const scoresBacklog: When = ({ path }) => path.startsWith('/__admin/score-backlog');

/** Mutants of what comes after a close. */
export const serviceLateMutants: readonly Mutant[] = [
  mutant(
    'late-spans-scored',
    'Scores a conversation once more when spans come late.',
    'SERVICE-060',
    knowingClosed(scoreTwice),
  ),
  mutant(
    'late-spans-unscored',
    'Moves a conversation to another run when spans come late.',
    'SERVICE-060',
    knowingClosed((item) => {
      item['run'] = 'Live traces, reopened';
    }),
  ),
  mutant(
    'two-ids-as-one',
    'Takes all spans of a request for those of one conversation.',
    'SERVICE-061',
    withTwo((body, first, second) => body.replaceAll(second, first)),
    slow,
  ),
  mutant(
    'two-ids-first-alone',
    'Keeps the spans of the first conversation of a request alone.',
    'SERVICE-061',
    withTwo((body, first) => spansOf(body, first)),
    slow,
  ),
  mutant(
    'two-ids-refused',
    'Refuses a request that is of two conversations.',
    'SERVICE-061',
    () => async (asked, forward) =>
      asked.endpoint === 'traces' && idsIn(asked).length > 1
        ? json(400, { message: 'One conversation a request.' })
        : forward(asked),
    slow,
  ),
  mutant(
    'backlog-in-one-run',
    'Scores the backlog in one run.',
    'SERVICE-062',
    ofBacklog((item) => {
      item['run'] = 'Live traces 2026-01-01';
    }),
  ),
  mutant(
    'backlog-left',
    'Says that it scores the backlog, and does not.',
    'SERVICE-062',
    leavesBacklog,
  ),
  mutant(
    'backlog-without-evals',
    'Scores a backlog by no evals.',
    'SERVICE-063',
    replaces(scoresBacklog, { status: 200 }),
  ),
  mutant(
    'backlog-traces-gone',
    'Throws the traces away that no eval is there for.',
    'SERVICE-064',
    ofBacklog((item) => {
      if (Array.isArray(item['traces'])) item['traces'] = [];
    }),
  ),
];

/** Legal variants of what comes after a close: that late spans are taken, or shown, is not said. */
export const serviceLateVariants: readonly Variant[] = [
  variant(
    'late-refused',
    'Refuses spans of a closed conversation.',
    knowingClosed(untouched, () => Promise.resolve(json(409, { message: 'It is closed.' }))),
  ),
  variant(
    'late-ignored',
    'Takes spans of a closed conversation, and keeps none.',
    knowingClosed(untouched, () => Promise.resolve(json(200, {}))),
  ),
  variant(
    'late-ends-later',
    'Lets a session end with its late spans.',
    knowingClosed((item) => {
      item['ended_at'] = '2030-01-01T00:00:00Z';
    }),
  ),
];
