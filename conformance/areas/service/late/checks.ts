import { brief, valueAt } from '../../../../src/contract/index.ts';
import type { serviceLateRequirements } from './requirements.ts';
import {
  notJudged,
  noValidResponse,
  wrongOutcome,
  type Check,
  type Finding,
} from '../../../engine/checks/check.ts';
import { wrong } from '../results/page-checks.ts';
import {
  conversationIdOf,
  countOf,
  sessionsOf,
  lastOf,
  needsControl,
  findSession,
  spansSent,
  turnsOf,
  type Item,
} from '../reading.ts';
import {
  type Exchange,
  type Transcript,
  isAccepted,
  printable,
  isRateLimited,
} from '../../../engine/transcript/reading.ts';

const sentAs = ({ exchanges }: Transcript, step: string): Exchange | undefined =>
  exchanges.find((one) => one.endpoint === 'traces' && one.step === step && !isRateLimited(one));

/** The sessions of a page that are of one conversation. */
const itemsOfId = (page: Exchange | undefined, id: string | undefined): Item[] =>
  page ? sessionsOf(page).filter((item) => item['source_session_id'] === id) : [];

/** What scoring made of a session; its turns and its end may be others once more has come. */
function scoreOf(item: Item | undefined): string {
  const outcomes = item?.['eval_outcomes'];
  const verdicts = (Array.isArray(outcomes) ? outcomes : [])
    .map((one) => `${brief(valueAt(one, '/eval_name'))} ${brief(valueAt(one, '/outcome'))}`)
    .sort();
  return JSON.stringify([item?.['run'], item?.['outcome_summary'], verdicts]);
}

/** A scored session stays as it is, whatever its conversation says later. */
function staysScored(): Check {
  const pagesOf = (transcript: Transcript) => ({
    before: lastOf(transcript, 'production', 'before late spans'),
    after: lastOf(transcript, 'production', 'after late spans'),
  });
  const idOf = (transcript: Transcript): string | undefined => {
    const late = sentAs(transcript, 'late again');
    return late?.response && conversationIdOf(late);
  };
  return {
    evidence(transcript) {
      const { before, after } = pagesOf(transcript);
      const [item, ...others] = itemsOfId(before, idOf(transcript));
      const queued = lastOf(transcript, 'end', 'close late');
      // Where an eval is still to come, the session changes for that.
      const isWhole =
        item !== undefined &&
        countOf(item, 'total_evaluations') === valueAt(queued?.json, '/evaluations_queued');
      return after && isWhole && others.length === 0 ? [after] : [];
    },
    judge: ([after], transcript) => {
      if (!after) return [];
      const id = idOf(transcript);
      const [old] = itemsOfId(pagesOf(transcript).before, id);
      const items = itemsOfId(after, id);
      const [item] = items;
      if (items.length === 1 && scoreOf(item) === scoreOf(old)) return [];
      const expected = `${brief(id)} as it was scored: ${printable(scoreOf(old), 200)}`;
      const received =
        items.length === 1 ? printable(scoreOf(item), 200) : `${items.length} sessions`;
      return [wrong(after, '/items', expected, received)];
    },
    unjudged: notJudged('not_observed', 'No conversation was scored, and then went on.'),
  };
}

const notSent = noValidResponse('traces');

/** Spans of two conversations in one request belong to the conversation that each names. */
function toldApart(): Check {
  const endsOf = ({ exchanges }: Transcript): Exchange[] =>
    exchanges.filter(
      (one) => /^close (first|second) of two$/.test(one.step) && !isRateLimited(one),
    );
  return {
    evidence(transcript) {
      const sent = sentAs(transcript, 'two ids');
      const isOneTaken = lastOf(transcript, 'end', 'close late') !== undefined;
      if (!sent || !isOneTaken) return [];
      return isAccepted(sent) ? [sent, ...endsOf(transcript)] : [sent];
    },
    judge([sent, ...ends], transcript) {
      if (!sent) return [];
      if (!isAccepted(sent)) return [wrongOutcome(sent, 'a 2xx answer, for two conversations')];
      const unknown = ends.find((one) => !isAccepted(one));
      if (unknown) {
        const expected = `a 2xx answer: its spans came with exchange ${sent.id}`;
        return [
          wrongOutcome(unknown, expected, 'Look at the id of each span, not of the request.'),
        ];
      }
      return ends.flatMap((one) => ownTurns(one, sent, transcript));
    },
    unjudged: notSent,
  };
}

/** The session of a conversation has the turns of its own spans, where it shows turns. */
function ownTurns(end: Exchange, sent: Exchange, transcript: Transcript): Finding[] {
  const id = conversationIdOf(end);
  const page = lastOf(transcript, 'production', 'before late spans');
  const [item] = itemsOfId(page, id);
  if (!page || !item || !Array.isArray(item['traces'])) return [];
  const own = spansSent(sent).filter(
    ({ attributes }) => attributes['gen_ai.conversation.id'] === id,
  );
  const turns = turnsOf(item).length;
  if (turns === own.length) return [];
  const expected = `${own.length} turn of ${brief(id)}, as its own spans have`;
  return [wrong(page, '/items', expected, `${turns}`)];
}

const CLOSED = ['backlog old', 'backlog'];

/** The sessions that came of the backlog, in the order in which they were closed. */
function backlogOf(transcript: Transcript): { page: Exchange | undefined; items: Item[][] } {
  const page = lastOf(transcript, 'production', 'backlog');
  const items = CLOSED.map((step) => {
    const sent = sentAs(transcript, step);
    return itemsOfId(page, sent && conversationIdOf(sent));
  });
  return { page, items };
}

const isAsked = (transcript: Transcript): boolean =>
  transcript.exchanges.some((one) => one.step === 'score backlog' && one.endpoint === 'admin') &&
  CLOSED.every((step) => lastOf(transcript, 'end', `close ${step}`));

const runOf = (transcript: Transcript, step: string): unknown =>
  findSession(transcript, step)?.['run'];

/** Where what is scored at once is not found by its id, or days are not told apart, that is why. */
const isListedAtOnce = (transcript: Transcript): boolean =>
  ['old', 'json'].every((step) => findSession(transcript, step) !== undefined);

const noBacklog = needsControl(notJudged('not_observed', 'No backlog was there to be scored.'));

/** Every conversation of the backlog is scored by all evals, in the run of its own date. */
function joinsItsDay(): Check {
  return {
    evidence(transcript) {
      const { page } = backlogOf(transcript);
      return page && isAsked(transcript) && isListedAtOnce(transcript) ? [page] : [];
    },
    judge([page], transcript) {
      if (!page) return [];
      const { items } = backlogOf(transcript);
      const seed = transcript.exchanges.find(({ step }) => step === 'evals for backlog')?.sent;
      const evals = valueAt(seed, '/settings/evals');
      const all = Array.isArray(evals) ? evals.length : 0;
      const counts = items.map((same) =>
        same.map((item) => countOf(item, 'total_evaluations') ?? 'no'),
      );
      if (counts.some((same) => same.length !== 1)) {
        const listed = counts.map((same) => same.length).join(' and ');
        return [wrong(page, '/items', 'both conversations of the backlog, once', listed)];
      }
      if (counts.some(([count]) => typeof count === 'number' && count !== all)) {
        return [wrong(page, '/items', `${all} evaluations each`, counts.flat().join(' and '))];
      }
      const runs = items.map(([item]) => item?.['run']);
      const daysDiffer = runOf(transcript, 'old') !== runOf(transcript, 'json');
      if (!daysDiffer || typeof runs[0] !== 'string' || runs[0] !== runs[1]) return [];
      return [wrong(page, '/items', 'a run for each of two days', brief(runs))];
    },
    unjudged: noBacklog,
  };
}

/** Without evals there is nothing to score by: the control API says so. */
function asksForEvals(): Check {
  return {
    evidence: ({ exchanges }) =>
      exchanges.filter((one) => one.endpoint === 'admin' && one.step === 'score no evals'),
    judge: (evidence) =>
      evidence
        .filter(isAccepted)
        .map((one) => wrongOutcome(one, 'a refusal that asks for evals to be picked first')),
    unjudged: noBacklog,
  };
}

/** What closed unscored has its turns still, when it is scored at last. */
function keepsTraces(): Check {
  const shown = (transcript: Transcript): Item[] =>
    backlogOf(transcript).items.flatMap((same) => (same.length === 1 ? same : []));
  return {
    evidence(transcript) {
      const { page } = backlogOf(transcript);
      return page && shown(transcript).some(({ traces }) => Array.isArray(traces)) ? [page] : [];
    },
    judge: ([page], transcript) =>
      page && shown(transcript).some((item) => turnsOf(item).length === 0)
        ? [wrong(page, '/items', 'the turns that were sent before the close', 'none')]
        : [],
    unjudged: noBacklog,
  };
}

/** The checks of what comes after a close, one for each requirement. */
export const serviceLateChecks = {
  'SERVICE-060': staysScored(),
  'SERVICE-061': toldApart(),
  'SERVICE-062': joinsItsDay(),
  'SERVICE-063': asksForEvals(),
  'SERVICE-064': keepsTraces(),
} satisfies Record<keyof typeof serviceLateRequirements, Check>;
