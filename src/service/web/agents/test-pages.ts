import { CHAT_REQUESTS_PER_SECOND_TARGET } from '../../../contract/index.ts';
import { formatCount, formatDuration, formatShare } from '../../../report-kit/format.ts';
import { html, type Html } from '../../../report-kit/html.ts';
import type { WatchedTest } from '../../operations/agent-tests.ts';
import type { AgentTest, AgentTestPlan } from '../../operations/kit-functions.ts';
import type { StoredAgent } from '../../store/store.ts';
import { isFlawless, type FieldProblems } from '../frame/field-problems.ts';
import { renderCheckbox, renderField, renderSelect } from '../frame/fields.ts';
import { renderForm } from '../frame/forms.ts';
import { linkTo, renderServicePage, type PageContext } from '../frame/page-frame.ts';
import { PROGRESS_CSS } from '../runs/progress.ts';

/** What leads to each test. */
export const TEST_LINKS: Readonly<Record<AgentTest['kind'], string>> = {
  check: 'Run a check',
  load: 'Run a load test',
};

/** Names each test in a sentence. */
const NAMES: Readonly<Record<AgentTest['kind'], string>> = {
  check: 'The check',
  load: 'The load test',
};

/** Says where each test runs. */
const RUNS_HERE: Readonly<Record<AgentTest['kind'], string>> = {
  check:
    'The check runs in the process of this service. It goes on if you leave the page, and is canceled when the service stops.',
  load: 'The load test runs in the process of this service, and shares its processor and network. It goes on if you leave the page, and is canceled when the service stops. For a larger load, use the command on another machine.',
};

/** Returns the path of the page that says what a test costs, and starts it. */
export const pathOfTest = (agentId: string, kind: AgentTest['kind']): string =>
  `/agents/${agentId}/${kind}`;

/** The typed values of a load test, and what is wrong with them. */
export interface LoadDraft {
  profile: string;
  rate: string;
  seconds: string;
  problems: FieldProblems<'profile' | 'rate' | 'seconds'>;
}

const PROFILES = [
  ['mixed', 'Mixed: chat, health, and users'],
  ['chat', 'Chat'],
  ['health', 'Health'],
] as const;

/** Limits of a load test from a page: the service shares its machine with it. */
const RATE_MAX = 200;
const SECONDS_MIN = 5;
const SECONDS_MAX = 900;

/** Reads the values of a load test. The test is undefined if one is invalid. */
export function readLoadTest(values: { get(name: string): unknown }): {
  draft: { kind: 'load' } & LoadDraft;
  test: Extract<AgentTest, { kind: 'load' }> | undefined;
} {
  const read = (name: string, fallback: string): string => {
    const value = values.get(name);
    return typeof value === 'string' ? value.trim() : fallback;
  };
  const [profile, rate, seconds] = [
    read('profile', 'mixed'),
    read('rate', String(CHAT_REQUESTS_PER_SECOND_TARGET)),
    read('seconds', '60'),
  ];
  const known = PROFILES.find(([name]) => name === profile)?.[0];
  const isWithin = (text: string, min: number, max: number): boolean =>
    /^\d{1,4}$/.test(text) && Number(text) >= min && Number(text) <= max;
  const problems = {
    ...(!known && { profile: 'Choose a profile.' }),
    ...(!isWithin(rate, 1, RATE_MAX) && { rate: `Enter a whole number from 1 to ${RATE_MAX}.` }),
    ...(!isWithin(seconds, SECONDS_MIN, SECONDS_MAX) && {
      seconds: `Enter a whole number from ${SECONDS_MIN} to ${SECONDS_MAX}.`,
    }),
  };
  const draft = { kind: 'load', profile, rate, seconds, problems } as const;
  if (!known || !isFlawless(problems)) return { draft, test: undefined };
  return {
    draft,
    test: {
      kind: 'load',
      profile: known,
      ratePerSecond: Number(rate),
      durationMs: Number(seconds) * 1_000,
    },
  };
}

/** The fields of a test. */
export type TestDraft = CheckDraft | ({ kind: 'load' } & LoadDraft);

/** The choices of a check. */
interface CheckDraft {
  kind: 'check';
  placesCalls: boolean;
  /** Whether the newest connection check opened the voice WebSocket; true if it did not try. */
  hasVoice: boolean;
}

/** What the page that starts a test shows. */
export interface TestStart {
  agent: StoredAgent;
  draft: TestDraft;
  /** Undefined if a value is invalid. */
  plan: AgentTestPlan | undefined;
  /** The test of the agent that runs; another one can't start. */
  running: WatchedTest | undefined;
  /** Why the test did not start. */
  refusal: string | undefined;
}

/** Renders the page that says what a test costs before it starts. */
export function renderTestPage(start: TestStart, context: PageContext): string {
  const { agent, plan, draft, running, refusal } = start;
  const { kind } = draft;
  const title = TEST_LINKS[kind];
  const path = pathOfTest(agent.id, kind);
  return renderServicePage(
    {
      title: `${title} (${agent.name})`,
      section: 'Agents',
      css: PROGRESS_CSS,
      main: html`<p><a href="${linkTo(context, `/agents/${agent.id}`)}">${agent.name}</a></p>
        <h1>${title}</h1>
        <p class="soft">${agent.url}</p>
        ${refusal !== undefined && html`<p class="remark" role="alert">${refusal}</p>`}
        ${
          running &&
          html`${renderTest(agent.id, running, context)}
            <p><a href="${linkTo(context, `/agents/${agent.id}`)}">Watch its progress</a></p>`
        }
        ${plan && renderPlan(plan)}
        <p class="soft">${RUNS_HERE[kind]}</p>
        ${renderForm(context, {
          action: path,
          body: html`${draft.kind === 'load' ? renderLoadFields(draft) : renderCalls(draft)}
            <p>
              <button name="start" value="yes">Start</button>
              <button class="quiet" name="start" value="no">Update the cost</button>
            </p>`,
        })}`,
    },
    context,
  );
}

const renderCalls = ({ placesCalls, hasVoice }: CheckDraft): Html =>
  html`${renderCheckbox('calls', 'Place calls by voice', { isChecked: placesCalls })}
  ${!hasVoice && html`<p class="soft">The connection check found no voice endpoint.</p>`}`;

const renderPlan = ({ sentence, modelRequests }: AgentTestPlan): Html =>
  html`<p>${sentence}</p>
    ${
      modelRequests > 0 &&
      html`<p class="remark">
        ${formatCount(modelRequests, 'request')} ${modelRequests === 1 ? 'reaches' : 'reach'} the
        model of the agent, and may cost money.
      </p>`
    }`;

function renderLoadFields({ profile, rate, seconds, problems }: LoadDraft): Html {
  return html`<div class="row">
    ${renderSelect(
      { name: 'profile', label: 'Traffic', value: profile, problem: problems.profile },
      PROFILES,
    )}
    ${renderField(
      {
        name: 'rate',
        label: 'Requests per second',
        value: rate,
        problem: problems.rate,
        hint: `The interface requires ${CHAT_REQUESTS_PER_SECOND_TARGET}. A lower rate costs less, but leaves the load not proven.`,
      },
      html`inputmode="numeric" autocomplete="off"`,
    )}
    ${renderField(
      { name: 'seconds', label: 'Duration in seconds', value: seconds, problem: problems.seconds },
      html`inputmode="numeric" autocomplete="off"`,
    )}
  </div>`;
}

/** Formats an estimate. Parts of a second are too exact. */
const formatLeft = (ms: number): string =>
  ms < 1_000 ? 'less than a second' : `about ${formatDuration(ms)}`;

/** Renders a test that runs, or that ended without a report. */
export function renderTest(agentId: string, test: WatchedTest, context: PageContext): Html {
  const { kind, plan, progress, end } = test;
  const name = NAMES[kind];
  if (typeof end === 'object') {
    return html`<p class="remark" role="status">${name} ${end.problem}</p>`;
  }
  const { state, share, leftMs } = progress;
  const left = leftMs === undefined ? '' : `, ${formatLeft(leftMs)} left`;
  return html`<section class="test" aria-label="Running test">
    <p><b>${name} is running:</b> ${state}${left}.</p>
    <svg
      class="progress"
      viewBox="0 0 100 4"
      preserveAspectRatio="none"
      role="img"
      aria-label="${formatShare(share, 0)} done"
    >
      <rect class="track" width="100" height="4"></rect>
      <rect class="bar" width="${Math.round(share * 1_000) / 10}" height="4"></rect>
    </svg>
    <p class="soft">${plan.sentence}</p>
    ${renderForm(context, {
      action: `/agents/${agentId}/cancel`,
      className: 'action',
      body: html`<button class="danger">Cancel the test</button>`,
    })}
  </section>`;
}
