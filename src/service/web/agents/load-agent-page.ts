import { findReadiness } from '../../operations/agent-readiness.ts';
import { listReports } from '../../operations/agent-reports.ts';
import type { AgentTests } from '../../operations/agent-tests.ts';
import type { AgentDeps } from '../../operations/agents.ts';
import { findDocument } from '../../operations/documents.ts';
import type { ReadinessDeps } from '../../operations/readiness-part.ts';
import { reportReadiness } from '../../operations/readiness-report.ts';
import { RequestError } from '../../requests/errors.ts';
import type { StoredAgent } from '../../store/store.ts';
import { readPage } from '../frame/list-filter.ts';
import type { Visit } from '../frame/pages.ts';
import { judgeRuns, type RunJudge } from '../runs/judge-runs.ts';
import { listStoredDefinitions } from '../runs/stored-definitions.ts';
import { timeRuns } from '../runs/time-runs.ts';
import { toDraft, type AgentDraft } from './agent-form.ts';
import { renderAgentPage, type AgentNews } from './agent-page.ts';

const REPORTS_PER_PAGE = 10;
const RUNS_MAX = 10;

/** The data and operations of the pages of agents. */
export interface AgentPageOptions extends AgentDeps, ReadinessDeps {
  store: AgentDeps['store'] & ReadinessDeps['store'];
  simulations: ReadinessDeps['simulations'] & RunJudge['simulations'];
  tests: AgentTests;
}

/** What the page of an agent shows instead of its stored state, after a mistake. */
interface Mistake {
  draft?: AgentDraft;
  uploadProblem?: string;
}

/** Reads what shows whether an agent is ready. @throws RequestError `not_found`. */
export async function loadReadiness(
  options: AgentPageOptions,
  ownerId: string,
  id: string,
): Promise<Pick<AgentNews, 'readiness' | 'test' | 'canTest'> & { agent: StoredAgent }> {
  const { store, tests } = options;
  const agent = await findDocument(store, ownerId, 'agent', id);
  // First, so that the report of a test that has ended is read.
  const test = tests.watch(ownerId, id);
  const [readiness] = await findReadiness(options, ownerId, [agent], RUNS_MAX);
  if (!readiness) throw new RequestError('not_found', 'This agent does not exist.');
  return { agent, readiness, test, canTest: tests.isAvailable };
}

/** Reads what changes on the page of an agent. @throws RequestError `not_found`. */
export async function loadAgentNews(
  options: AgentPageOptions,
  { ownerId, query, params: { id } }: Visit<'id'>,
): Promise<AgentNews & { agent: StoredAgent }> {
  const page = readPage(query, REPORTS_PER_PAGE);
  const content = await loadReadiness(options, ownerId, id);
  const found = await listReports(options, ownerId, id, page);
  const { runs } = content.readiness;
  const times = await timeRuns(options.store, { ownerId, kind: 'simulation' }, runs);
  const judged = await judgeRuns(options, ownerId, runs);
  const stored = await listStoredDefinitions(options.store, ownerId);
  // Reports can be large, and the process of a load test must not wait for them.
  const report =
    content.test?.end === 'running'
      ? undefined
      : await reportReadiness(options, ownerId, content.readiness);
  const nowMs = options.clock.nowMs();
  return { ...content, report, nowMs, judged, stored, times, ...found, ...page, query };
}

/** Renders the page of an agent. @throws RequestError `not_found`. */
export async function renderAgent(
  options: AgentPageOptions,
  visit: Visit<'id'>,
  { draft, uploadProblem }: Mistake = {},
): Promise<string> {
  const { agent, ...news } = await loadAgentNews(options, visit);
  const shown = { ...news, draft: draft ?? toDraft(agent), uploadProblem };
  return renderAgentPage(shown, visit.context);
}
