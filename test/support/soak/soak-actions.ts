/** What users, callers, and operators do in a long run, except for exporting traces. */
import type { Scenario } from '../../../src/contract/index.ts';
import { HOUR_MS, isoTime, systemClock } from '../../../src/platform/clock.ts';
import { evals } from '../crashes/crash-clients.ts';
import type { ServiceAddress } from '../services/service-process.ts';
import type { SoakClient, SoakResponse } from './soak-client.ts';

/** The clock of the services, which a long run moves. */
export interface SoakClock {
  nowMs: () => number;
  advance: () => Promise<void>;
}

const ADVANCE_MS = HOUR_MS;

/** Creates the clock: each call of `advance` moves it by an hour. */
export function createSoakClock(client: SoakClient): SoakClock {
  let aheadMs = 0;
  return {
    nowMs: () => systemClock.nowMs() + aheadMs,
    async advance() {
      await client.send({
        kind: 'clock',
        route: 'POST /__admin/clock',
        body: { advance_ms: ADVANCE_MS },
      });
      aheadMs += ADVANCE_MS;
    },
  };
}

const scenarios: Scenario[] = [
  {
    id: 'parcel',
    name: 'Late parcel',
    user: { opening: 'Where is my order A-1001?', steps: [{ say: 'And when does it arrive?' }] },
    evals: [{ id: 'ships', name: 'Ships', kind: 'contains', params: { text: 'shipped' } }],
  },
  {
    id: 'hours',
    name: 'Opening hours',
    user: { opening: 'When are you open?' },
    evals: [{ id: 'tells', name: 'Tells', kind: 'contains', params: { text: 'unlikely words' } }],
  },
];
const call: Scenario = {
  id: 'call',
  name: 'A call',
  user: { opening: 'Are you open now?' },
  evals: [{ id: 'brief', name: 'Brief', kind: 'max_turns', params: { max: 6 } }],
};

/** Stores the evals and the agent that the run uses. */
export async function prepareService(
  client: SoakClient,
  agent: { url: string; voiceUrl?: string },
): Promise<void> {
  const post = (path: string, body: unknown, method = 'POST') =>
    client.send({ kind: 'setup', route: `${method} /__admin${path}`, body });
  for (const definition of evals) await post('/evals', definition);
  await post('/settings', { evals: evals.map(({ id }) => id) }, 'PUT');
  await post('/agents', { id: 'shop', name: 'Shop', url: agent.url, voice_url: agent.voiceUrl });
}

const READS = [
  '/api/prod-evaluations/sessions/?limit=50',
  '/api/prod-evaluations/sessions/?limit=20&include_traces=true',
  '/api/prod-evaluations/sessions/?failed_only=true',
  '/api/prod-evaluations/sessions/?eval=turns',
  '/api/simulations/sessions/?limit=50',
  '/api/simulations/sessions/?agent=shop&include_traces=true',
  '/__admin/ingest-log',
  '/__admin/requests',
];

const PAGES = [
  '/',
  '/sessions?kind=production',
  '/sessions?kind=simulation',
  '/sessions?kind=open',
  '/sessions?kind=production&text=way',
  '/runs?kind=production',
  '/runs?kind=simulation',
  '/agents',
  '/agents/shop',
  '/evals',
  '/settings',
  '/keys',
  '/search?q=soak',
];

type OpenPage = (path: string) => Promise<void>;

const SIMULATIONS_KEPT = 5;
const UPLOADS = 200;

/** Creates the actions. Each call of an action does one thing. */
export function createSoakActions(
  client: SoakClient,
  clock: SoakClock,
  service: ServiceAddress,
): { actions: Record<string, () => Promise<void>>; uploaded: Set<string> } {
  let [reads, views, uploads, changes] = [0, 0, 0, 0];
  let latestPage = '/';
  const simulations: string[] = [];
  const uploaded = new Set<string>();
  const viewPage = createViewer(client, service);
  const simulate = async (body: object): Promise<void> => {
    const { text } = await client.send({
      kind: 'simulate',
      route: 'POST /__admin/simulations',
      body: { agent: 'shop', ...body },
    });
    simulations.push((JSON.parse(text) as { id: string }).id);
  };
  const actions = {
    async results() {
      const { text } = await client.send({
        kind: 'results',
        route: `GET ${READS[reads++ % READS.length] ?? ''}`,
      });
      const { items } = JSON.parse(text) as { items?: { url?: string | null }[] };
      const url = items?.[0]?.url;
      if (url) latestPage = new URL(url).pathname;
    },
    async pages() {
      const path = views % 4 === 3 ? latestPage : (PAGES[views % PAGES.length] ?? '/');
      views += 1;
      await viewPage(path);
    },
    simulations: () => simulate({ scenarios }),
    calls: () => simulate({ scenarios: [call], channel: 'voice' }),
    async uploads() {
      const sessionId = `upload-${uploads++ % UPLOADS}`;
      const turns = [{ user_input: 'Where is it?', agent_response: 'It is on its way.' }];
      const startedAt = isoTime(clock.nowMs());
      await client.send({
        kind: 'uploads',
        route: 'POST /__admin/transcripts',
        body: { session_id: sessionId, started_at: startedAt, run: 'Uploads', turns },
      });
      uploaded.add(sessionId);
    },
    /** Creates what it deletes, except for simulations, of which some stay. */
    async deletions() {
      const id = `temporary-${changes++}`;
      const change = (route: string, body?: unknown) =>
        client.send({ kind: 'changes', route, ...(body !== undefined && { body }) });
      const key = `${id}-0123456789`;
      await change('POST /__admin/keys', { key, label: id });
      await change('POST /__admin/scenarios', { ...scenarios[0], id });
      await change('POST /__admin/evals', { ...evals[0], id, name: id });
      await change('DELETE /__admin/keys', { key });
      await change(`DELETE /__admin/scenarios/${id}`);
      await change(`DELETE /__admin/evals/${id}`);
      if (simulations.length <= SIMULATIONS_KEPT) return;
      const oldest = simulations.shift() ?? '';
      await change(`DELETE /__admin/simulations/${oldest}`);
    },
  };
  return { actions, uploaded };
}

/** What makes a request one of a browser on another machine, so that it needs a sign-in. */
const REMOTE = { 'x-forwarded-for': '192.0.2.1' };

/** Creates a function that opens a page as a user who signs in again when the session has ended. */
function createViewer({ send }: SoakClient, service: ServiceAddress): OpenPage {
  let cookie = '';
  const signIn = async (): Promise<void> => {
    const { headers } = await send({
      kind: 'sign-in',
      route: 'POST /sign-in',
      headers: {
        ...REMOTE,
        origin: service.url,
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: new URLSearchParams({ key: service.apiKey, next: '/' }).toString(),
      expected: [303],
      isForFirst: true,
    });
    cookie = (headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  };
  const open = (path: string, expected: number[]): Promise<SoakResponse> =>
    send({
      kind: 'pages',
      route: `GET ${path}`,
      headers: { ...REMOTE, cookie, accept: 'text/html' },
      expected,
      isForFirst: true,
      hasNoKey: true,
    });
  return async (path) => {
    const { status } = await open(path, [200, 401]);
    if (status === 200) return;
    await signIn();
    await open(path, [200]);
  };
}
