import { contractVersion, type TestedAgent } from '../../contract/index.ts';
import { isSameUrl } from '../../platform/base-url.ts';
import { isoTime, systemClock, type Clock } from '../../platform/clock.ts';
import { formatList } from '../../report-kit/format.ts';
import { parseMessage } from '../requests/document-checks.ts';
import { InvalidDocumentError, RequestError } from '../requests/errors.ts';
import type { AgentReportSummary, Store, StoredAgent } from '../store/store.ts';
import { REPORTS_KEPT_MAX } from './agent-reports.ts';
import { isOtherConnection } from './outdated-evidence.ts';
import { findDocument, saveDocument } from './documents.ts';
import type { ConnectionReport, KitFunctions } from './kit-functions.ts';

/** What the actions on agents need. */
export interface AgentDeps {
  store: Pick<Store, 'documents' | 'evals' | 'agentReports'>;
  /** The service clock. */
  clock: Clock;
  kit: KitFunctions | undefined;
}

/**
 * Changes an agent. Without a key in the change, the stored key stays, unless the URL leads to
 * another server: a key is sent only to the server that it was entered for.
 * @throws RequestError `bad_request`, or `not_found` for an unknown id.
 */
export async function changeAgent(
  { store }: Pick<AgentDeps, 'store'>,
  ownerId: string,
  change: TestedAgent & { id: string },
  { forgetsKey }: { forgetsKey: boolean },
): Promise<StoredAgent> {
  const agent = parseMessage('TestedAgent', change);
  const before = await findDocument(store, ownerId, 'agent', change.id);
  const storedKey = await store.documents.findApiKey(ownerId, change.id);
  if (agent.api_key !== undefined || forgetsKey || storedKey === undefined) {
    return saveDocument(store, ownerId, 'agent', agent);
  }
  const isSameServer = (from: string | undefined, to: string | undefined): boolean =>
    to === undefined || from === to || originOf(from) === originOf(to);
  if (!isSameServer(before.url, agent.url) || !isSameServer(before.voice_url, agent.voice_url)) {
    const problem = 'must be entered again, because a URL leads to another server';
    throw new InvalidDocumentError('/api_key', problem);
  }
  return saveDocument(store, ownerId, 'agent', { ...agent, api_key: storedKey });
}

const originOf = (url: string | undefined): string | undefined =>
  url === undefined ? undefined : (URL.parse(url)?.origin ?? url);

/** An agent with the result of its last connection check. */
export interface RunnableAgent extends StoredAgent {
  /** Undefined if its connection was not checked at this URL. */
  isReachable: boolean | undefined;
}

/** Adds the last connection checks to agents: first those reached last, unreachable ones at the end. */
export async function sortByConnection(
  { agentReports }: Pick<Store, 'agentReports'>,
  ownerId: string,
  agents: readonly StoredAgent[],
): Promise<RunnableAgent[]> {
  const reports = await agentReports.listNewest(ownerId, agents);
  const checked = new Map(
    reports.filter(({ kind }) => kind === 'connection').map((report) => [report.agentId, report]),
  );
  const ranked = agents.map((agent) => {
    const summary = checked.get(agent.id)?.summary;
    const isKnown = summary && isSameUrl(summary.target, agent.url);
    if (!isKnown || isOtherConnection(summary, agent))
      return { agent: { ...agent, isReachable: undefined }, rank: 0 };
    const isReachable = summary.standing !== 'fail';
    return {
      agent: { ...agent, isReachable },
      rank: isReachable ? Date.parse(summary.endedAt) : -1,
    };
  });
  return ranked.sort((left, right) => right.rank - left.rank).map(({ agent }) => agent);
}

/** Time limit of each request of a connection check, and of the whole check. */
const REQUEST_TIMEOUT_MS = 10_000;
const CHECK_TIMEOUT_MS = 30_000;

/**
 * Tests the connection to the sandbox of an agent, stores the result, and returns it. The test sends
 * one request per endpoint; one of them reaches the model of the agent.
 * @throws RequestError `not_found`.
 */
export async function checkConnection(
  { store, clock, kit }: AgentDeps,
  ownerId: string,
  agentId: string,
): Promise<ConnectionReport> {
  const agent = await findDocument(store, ownerId, 'agent', agentId);
  const { url, voice_url: voiceUrl } = agent;
  if (!kit) {
    throw new RequestError('not_found', 'This service was started without connection checks.');
  }
  const apiKey = await store.documents.findApiKey(ownerId, agentId);
  // A sandbox runs in real time, even if the service clock was moved.
  using deadline = systemClock.deadline(CHECK_TIMEOUT_MS);
  const { signal } = deadline;
  const timeoutMs = REQUEST_TIMEOUT_MS;
  const found = await kit.diagnose({ url, voiceUrl, apiKey, timeoutMs, signal });
  const report = explainForService(found);
  const atMs = clock.nowMs();
  const times = { endedAt: isoTime(atMs), kitVersion: contractVersion };
  const known = report.endpoints && { hasVoice: hasArea(report.endpoints, 'voice') };
  const { agentVersion } = report;
  const build = {
    connection: agent.connection ?? 0,
    ...(agentVersion !== undefined && { agentVersion }),
  };
  const summary = { ...summarizeConnection(report), ...times, target: url, ...known, ...build };
  const added = { agentId, kind: 'connection', atMs, summary, report } as const;
  await store.agentReports.add(ownerId, added, { agent, keep: REPORTS_KEPT_MAX });
  return report;
}

/** What a check found instead of a sandbox that lets it in, by cause. */
const REFUSALS: Partial<Record<string, string>> = {
  key_refused: 'Key refused',
  login_page: 'Not a sandbox',
  no_interface: 'Not a sandbox',
  rate_limited: 'Rate limited',
  redirect: 'Redirected',
};

/** Returns which setting of an agent mends a failed connection with this verdict; undefined if none does. */
export function findSettingToMend(verdict: string): 'api_key' | 'url' | undefined {
  if (verdict === REFUSALS.key_refused) return 'api_key';
  return verdict === REFUSALS.rate_limited ? undefined : 'url';
}

function summarizeConnection(
  report: ConnectionReport,
): Pick<AgentReportSummary, 'standing' | 'verdict' | 'detail'> {
  const { target, blockedBy, health, remark, endpoints = [] } = report;
  if (blockedBy) {
    const verdict = REFUSALS[blockedBy.id] ?? 'Not reachable';
    return { standing: 'fail', verdict, detail: blockedBy.message };
  }
  if (health !== undefined && health !== 'healthy') {
    const detail = `GET /health reports that the sandbox is ${health}.`;
    return { standing: 'warn', verdict: 'Reachable, not healthy', detail };
  }
  const base = target.replace(/\/+$/, '');
  // A remark is about voice, which an agent need not have.
  const failures = endpoints
    .filter(({ area, state }) => state === 'fails' && area !== 'voice')
    .map(({ name, outcome }) => `${name.replace(' ', ` ${base}`)}: ${outcome}`);
  if (failures.length > 0) {
    const detail = `${failures.join('. ')}.`;
    return { standing: 'warn', verdict: 'Reachable, with errors', detail };
  }
  const detail = remark ?? describeEndpoints(endpoints);
  return { standing: 'pass', verdict: 'Reachable and healthy', detail };
}

type Endpoints = NonNullable<ConnectionReport['endpoints']>;

const hasArea = (endpoints: Endpoints, area: Endpoints[number]['area']): boolean =>
  endpoints.some((endpoint) => endpoint.area === area && endpoint.state === 'responds');

/** Says which endpoints respond, of a sandbox whose chat and health do. */
function describeEndpoints(endpoints: Endpoints): string {
  const optional = ['users', 'voice'] as const;
  const absent = optional.filter((area) => !hasArea(endpoints, area));
  if (absent.length === 0) return 'Every endpoint responds.';
  const present = optional.filter((area) => hasArea(endpoints, area));
  const names = formatList(['Chat', 'health', ...present]);
  return `${names} respond. The sandbox has no endpoint for ${formatList(absent)}.`;
}

/** Advice about a cause here, where the command line would name an option. */
const CURES: Partial<Record<string, string>> = {
  tls:
    'If your own CA issued the certificate, restart the service with ' +
    '`NODE_EXTRA_CA_CERTS=FILE`. Otherwise renew the certificate.',
  certificate_demanded:
    'The service has no client certificate. Let it connect without one, or use ' +
    '`sandbox-kit check --cert FILE --key FILE`.',
  key_refused: 'Enter the key that the sandbox expects in the settings of this agent.',
  rate_limited: 'Raise the rate limit of the sandbox for this key, or try again later.',
  no_voice: 'Check the key and the voice URL in the settings of this agent.',
};

/** Returns what people who read a page can do about the cause of a report. */
export const findCure = ({ id = '', cure }: { id?: string; cure: string }): string =>
  CURES[id] ?? cure;

/** Words the cause of a failed check for people who read a page. */
function explainForService(report: ConnectionReport): ConnectionReport {
  const { blockedBy } = report;
  if (!blockedBy) return report;
  const texts =
    blockedBy.id === 'interrupted'
      ? {
          message: `The sandbox did not respond to all requests within ${CHECK_TIMEOUT_MS / 1000} s.`,
          cure: 'Check that the sandbox is running and responds within seconds.',
        }
      : { cure: findCure(blockedBy) };
  return { ...report, blockedBy: { ...blockedBy, ...texts } };
}
