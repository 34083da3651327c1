import { seededRandom } from '../../../../src/platform/random.ts';
import type { RequirementId } from '../../../engine/requirement.ts';
import { edited, isAccepted } from '../../../engine/mutants/combinators.ts';
import {
  mutantsOf,
  type Mutant,
  type Transform,
  type TransformFactory,
} from '../../../engine/mutants/mutant.ts';
import {
  asks,
  idIn,
  itemsIn,
  listOf,
  onItems,
  onPages,
  param,
  partOf,
  requeried,
  type Item,
} from '../edits.ts';

const mutant = mutantsOf('service');
const slow = { clockFactor: 20 };

const item = (
  name: string,
  breaks: string,
  kills: RequirementId | readonly RequirementId[],
  edit: (item: Item) => void,
  when?: Parameters<typeof onItems>[2],
): Mutant => mutant(name, breaks, kills, onItems('production', edit, when), slow);

const simulated = (
  name: string,
  breaks: string,
  kills: RequirementId,
  edit: (item: Item) => void,
): Mutant => mutant(`simulation-${name}`, breaks, kills, onItems('simulations', edit));

const put =
  (key: string, value: unknown) =>
  (one: Item): void => {
    one[key] = value;
  };
const traced = asks('include_traces', 'true');

const ofProduction: Mutant[] = [
  item('url-null', 'Gives no link.', 'SERVICE-082', put('url', null)),
  item('url-without-session', 'Links to the run alone.', 'SERVICE-083', (one) => {
    one['url'] = String(one['url']).replace(/\?.*/, '');
  }),
  item('url-other-path', 'Links to another page.', 'SERVICE-083', (one) => {
    one['url'] = String(one['url']).replace('production-eval', 'evaluations');
  }),
  item('session-run-null', 'Names no run with the turns.', 'SERVICE-084', put('run', null), traced),
  item('session-status-number', 'Gives the status as a number.', 'SERVICE-084', put('status', 3)),
  item(
    'session-id-missing',
    'Leaves source_session_id out where turns are not asked for.',
    ['SERVICE-084', 'SERVICE-120'],
    (one) => Reflect.deleteProperty(one, 'source_session_id'),
    (asked) => !traced(asked),
  ),
  item('run-base-alone', 'Lists the run without its date.', 'SERVICE-085', (one) => {
    one['run'] = String(one['run']).replace(/^(Live traces) .*/, '$1');
  }),
  item(
    'own-session-id',
    'Lists sessions under ids of its own.',
    ['SERVICE-087', 'SERVICE-120'],
    (one) => {
      one['source_session_id'] = `svc-${String(one['source_session_id'])}`;
    },
  ),
  item(
    'start-of-ingestion',
    'Takes the time of arrival for the start.',
    'SERVICE-091',
    (one) => {
      one['started_at'] = '2026-01-01T00:00:00.000Z';
    },
    (asked) => traced(asked) && !asked.path.includes('limit=50&'),
  ),
  item('counts-too-many', 'Counts failed evals as passed, too.', 'SERVICE-094', (one) => {
    const summary = partOf(one, 'outcome_summary');
    summary['passed_count'] = summary['total_evaluations'];
  }),
  item(
    'outcome-left-out',
    'Leaves an outcome out.',
    'SERVICE-095',
    (one) => {
      one['eval_outcomes'] = listOf(one, 'eval_outcomes').slice(1);
    },
    traced,
  ),
  item('agent-null', 'Has an agent key of null.', 'SERVICE-096', put('agent', null)),
  item('scenario-empty', 'Has an empty scenario.', 'SERVICE-096', put('scenario', '')),
  item('persona-null', 'Has a persona key of null.', 'SERVICE-096', put('persona', null)),
  mutant('upload-hidden', 'Does not list transcripts.', 'SERVICE-120', hidden(' upload '), slow),
];

/** Lists sessions of some runs neither in pages nor in totals. */
function hidden(run: string): TransformFactory {
  return (): Transform => async (asked, forward) => {
    const [skip, limit] = [Number(param(asked, 'skip') ?? 0), Number(param(asked, 'limit') ?? 50)];
    const isPage = Number.isInteger(skip) && limit > 0 && limit <= 500;
    if (asked.endpoint !== 'production' || !isPage) return forward(asked);
    const [route = '', text = ''] = asked.path.split('?');
    const query = new URLSearchParams(text);
    query.set('limit', '500');
    query.delete('skip');
    const answer = await forward({ ...asked, path: `${route}?${query.toString()}` });
    if (!isAccepted(answer)) return answer;
    return edited(answer, asked, (page) => {
      const left = itemsIn(page).filter((one) => !String(one['run']).includes(run));
      Object.assign(page, {
        items: left.slice(skip, skip + limit),
        total: left.length,
        skip,
        limit,
      });
    });
  };
}

/** Changes the turns of the session whose trace request says something. */
function retold(
  says: (body: string, known: ReadonlySet<string>) => boolean,
  edit: (turns: Item[]) => Item[],
): TransformFactory {
  return (): Transform => {
    const bodies = new Set<string>();
    const ids = new Set<string>();
    const change = onItems('production', (one) => {
      if (!ids.has(String(one['source_session_id'])) || !Array.isArray(one['traces'])) return;
      one['traces'] = edit(listOf(one, 'traces'));
    })();
    return async (asked, forward, clock) => {
      const id = asked.endpoint === 'traces' ? idIn(asked.body) : undefined;
      if (id !== undefined && says(asked.body, bodies)) ids.add(id);
      if (asked.endpoint === 'traces') bodies.add(asked.body);
      return change(asked, forward, clock);
    };
  };
}

const oneMore = (turns: Item[]): Item[] => [
  ...turns,
  { session_sequence: turns.length + 1, user_input: '', agent_response: '' },
];
const turn = (edit: (one: Item) => void): TransformFactory =>
  onItems('production', (one) => listOf(one, 'traces').forEach(edit));
const messageOf = (text: unknown): string =>
  JSON.stringify([{ role: 'user', parts: [{ type: 'text', content: text }] }]);

const turns: Mutant[] = [
  mutant(
    'turns-of-one-request',
    'Keeps the turns of the first request alone.',
    'SERVICE-099',
    retold(
      (body) => body.split('"chat"').length > 4,
      (all) => all.slice(0, 2),
    ),
  ),
  mutant(
    'input-raw',
    'Shows the messages as they came.',
    'SERVICE-100',
    turn((one) => put('user_input', messageOf(one['user_input']))(one)),
  ),
  mutant('input-empty', 'Does not read the input.', 'SERVICE-100', turn(put('user_input', ''))),
  mutant(
    'response-cut',
    'Cuts what the agent said.',
    'SERVICE-101',
    turn((one) => put('agent_response', String(one['agent_response']).slice(0, 20))(one)),
  ),
  mutant(
    'turns-swapped',
    'Takes the agent for the user.',
    ['SERVICE-100', 'SERVICE-101'],
    turn((one) =>
      Object.assign(one, { user_input: one['agent_response'], agent_response: one['user_input'] }),
    ),
  ),
  mutant(
    'resent-twice',
    'Makes a second turn of a span that is sent again.',
    'SERVICE-102',
    retold((body, known) => known.has(body), oneMore),
  ),
  mutant(
    'nameless-turn',
    'Makes a turn of any span.',
    'SERVICE-103',
    retold((body) => body.includes('GET /orders'), oneMore),
  ),
  mutant(
    'tool-turn',
    'Makes a turn of a tool call.',
    'SERVICE-104',
    retold((body) => body.includes('execute_tool'), oneMore),
  ),
];

/** Which simulation a session is of, by its agent: the other one's was deleted. */
const isDeleted = (one: Item): boolean => String(one['agent']).startsWith('Check Other');

const ofSimulations: Mutant[] = [
  simulated('url-number', 'Numbers its links.', 'SERVICE-137', (one) => {
    if (!isDeleted(one)) one['url'] = 17;
  }),
  simulated('url-other-path', 'Links to another page.', 'SERVICE-137', (one) => {
    if (!isDeleted(one)) one['url'] = String(one['url']).replace('/simulation/', '/sim/');
  }),
  simulated('url-null', 'Links to nothing.', 'SERVICE-137', put('url', null)),
  simulated('deleted-link', 'Links to what was deleted.', 'SERVICE-138', (one) => {
    if (isDeleted(one)) one['url'] = 'http://127.0.0.1/simulation/gone?sessionId=gone';
  }),
  mutant(
    'simulation-deleted-hidden',
    'Does not list what was deleted.',
    ['SERVICE-135', 'SERVICE-138', 'SERVICE-155'],
    withoutDeleted(),
  ),
  ...['simulation', 'scenario', 'persona', 'status'].map((key) =>
    simulated(`${key}-null`, `Makes ${key} null.`, 'SERVICE-139', put(key, null)),
  ),
  mutant(
    'simulation-agent-null',
    'Names no agent with the turns.',
    'SERVICE-139',
    onItems('simulations', put('agent', null), traced),
  ),
  mutant(
    'agent-url-unknown',
    'Does not look for the URL of an agent.',
    'SERVICE-147',
    requeried(
      'simulations',
      (query) => query.set('agent', seededRandom('none').id(12)),
      (asked) => asked.path.includes('.example'),
    ),
  ),
  mutant(
    'simulation-total-less',
    'Counts one less unless asked for more.',
    'SERVICE-155',
    onPages(
      'simulations',
      (page) => put('total', Math.max(0, Number(page['total']) - 1))(page),
      (asked) => asked.path.endsWith('/'),
    ),
  ),
];

function withoutDeleted(): TransformFactory {
  return onPages('simulations', (page, asked) => {
    const all = itemsIn(page);
    const left = all.filter((one) => !isDeleted(one));
    page['items'] = left;
    const isNarrow = ['failed_only', 'agent', 'eval'].some((name) => asks(name)(asked));
    if (!isNarrow && Number(page['total']) > 0) page['total'] = Number(page['total']) - 1;
  });
}

/** Mutants of what a session says. */
export const serviceSessionMutants: readonly Mutant[] = [
  ...ofProduction,
  ...turns,
  ...ofSimulations,
];
