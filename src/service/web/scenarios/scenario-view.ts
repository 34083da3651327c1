import type { EvalDefinition, Persona, ReplyCondition, Scenario } from '../../../contract/index.ts';
import { renderFactList } from '../../../report-kit/fact-list.ts';
import { cutText, formatDuration, formatShare } from '../../../report-kit/format.ts';
import { html, type Html } from '../../../report-kit/html.ts';
import { applyScenarioDefaults, type CompleteUser } from '../../scenarios/complete-scenario.ts';
import { evalKinds } from '../evals/eval-fields.ts';
import { listParameters } from '../evals/eval-parameters.ts';
import { linkTo, type PageContext } from '../frame/page-frame.ts';

const JSON_LENGTH_MAX = 4_000;
/** The most steps, facts, or messages that a page shows. */
const ITEMS_MAX = 200;

/** Renders what a scenario says: the user, the conversation, and the evals. */
export function renderScenario(
  scenario: Scenario,
  known: { personas: readonly Persona[]; evals: readonly EvalDefinition[] },
  context: PageContext,
): Html {
  const { user, evals = [], persona } = applyScenarioDefaults(scenario);
  const stored = known.personas.find(({ id }) => id === persona);
  return html`<h2>User</h2>
    ${renderFactList([
      ['Goal', user.goal, 'text'],
      ['Persona', renderPersona(persona, stored, context)],
      ['Plays', MODES[user.mode]],
      ['Opening', user.opening, 'text'],
      ['Begins', user.speaks_first ? undefined : 'the agent'],
    ])}
    ${renderSteps(user)} ${renderFacts(user)} ${renderReactions(user)}
    <h2>Evals</h2>
    ${
      evals.length === 0
        ? html`<p>None. Without an eval, its sessions stay undecided.</p>`
        : html`<ul class="evals">
            ${evals.map((entry) => renderEval(entry, known.evals, context))}
          </ul>`
    }
    ${renderContext(scenario)}`;
}

const MODES = {
  scripted: 'says each line in order and ignores the replies',
  graph: 'chooses its lines by the replies of the agent',
  llm: 'a language model plays the user',
} as const;

function renderPersona(
  persona: Scenario['persona'],
  stored: Persona | undefined,
  context: PageContext,
): Html | string {
  if (persona === undefined) return 'plain, a polite customer';
  if (typeof persona !== 'string') return persona.name;
  const link = linkTo(context, `/personas/${encodeURIComponent(persona)}`);
  return stored
    ? html`<a href="${link}">${stored.name}</a>`
    : html`<span class="fail">${persona}, which does not exist</span>`;
}

function renderSteps({ steps }: CompleteUser): Html | undefined {
  if (steps.length === 0) return undefined;
  return html`<h3>Then</h3>
    <ol class="steps">
      ${steps.slice(0, ITEMS_MAX).map(
        ({ id, when, say, otherwise, next }) =>
          html`<li>
            ${id !== undefined && html`<code>${id}</code> `}${
              when !== undefined &&
              html`<span class="soft">when the agent ${describeCondition(when)}</span>`
            }
            <div class="text">${say}</div>
            ${otherwise !== undefined && html`<div class="soft text">otherwise: ${otherwise}</div>`}
            ${next !== undefined && html`<div class="soft">then <code>${next}</code></div>`}
          </li>`,
      )}
    </ol>
    ${renderRest(steps.length)}`;
}

const renderRest = (count: number): Html | undefined =>
  count > ITEMS_MAX ? html`<p class="soft">and ${count - ITEMS_MAX} more</p>` : undefined;

function renderFacts({ facts }: CompleteUser): Html | undefined {
  if (facts.length === 0) return undefined;
  return html`<h3>States only when asked</h3>
    ${renderFactList(
      facts
        .slice(0, ITEMS_MAX)
        // A function, because `$&` in a replacement text has a special meaning.
        .map(({ name, value, say }) => [name, say.replaceAll('{value}', () => value), 'text']),
    )}`;
}

function renderReactions({ reactions, stop_when: stops }: CompleteUser): Html {
  return html`${
    reactions.length !== 0 &&
    html`<h3>Reacts</h3>
      <ul class="steps">
        ${reactions.map(
          ({ when, say, stop }) =>
            html`<li>
              <span class="soft">when the agent ${describeCondition(when)}</span>
              <div class="text">${say}</div>
              ${stop && html`<div class="soft">and ends the conversation</div>`}
            </li>`,
        )}
      </ul>`
  }
  ${stops.length !== 0 && html`<p>Done when the agent ${stops.map(describeCondition).join(', or ')}.</p>`}`;
}

/** Describes a condition, to be read after "the agent". */
function describeCondition(condition: ReplyCondition): string {
  const quote = (text: string): string => `“${cutText(text, 200)}”`;
  const { contains, contains_any: any, lacks, matches, tool_called: tool, turn } = condition;
  return [
    ...(contains === undefined ? [] : [`says ${quote(contains)}`]),
    ...(any === undefined ? [] : [`says ${any.map(quote).join(' or ')}`]),
    ...(lacks === undefined ? [] : [`does not say ${quote(lacks)}`]),
    ...(matches === undefined ? [] : [`says something that matches /${cutText(matches, 200)}/`]),
    ...(tool === undefined ? [] : [`calls ${tool}`]),
    ...(turn === undefined ? [] : [`replies in turn ${turn}`]),
  ].join(' and ');
}

function renderEval(
  entry: string | EvalDefinition,
  known: readonly EvalDefinition[],
  context: PageContext,
): Html {
  const stored = known.find(({ id }) => id === entry);
  const definition = typeof entry === 'string' ? stored : entry;
  if (!definition) return html`<li class="fail">${entry as string}, which does not exist</li>`;
  const { id, name, kind, required = true } = definition;
  const parameters = listParameters(definition);
  const title =
    typeof entry === 'string'
      ? html`<a href="${linkTo(context, '/evals/edit', { id })}">${name}</a>`
      : html`${name}`;
  return html`<li>
    ${title}
    <span class="soft">${evalKinds[kind].name}${required ? '' : ', not required'}</span>
    ${parameters.length !== 0 && renderFactList(parameters)}
  </li>`;
}

/** Renders the settings of a scenario, and what is sent with it. */
function renderContext(scenario: Scenario): Html {
  const { channel, samples, pass_rate: rate, limits } = applyScenarioDefaults(scenario);
  const { initial_messages: messages, metadata, profile, preferences, history, seed } = scenario;
  const { turn_timeout_ms: turnMs, max_duration_ms: totalMs } = scenario.limits ?? {};
  const sent = Object.entries({ messages, metadata, profile, preferences, history }).filter(
    ([, value]) => value !== undefined,
  );
  return html`<h2>Settings</h2>
    ${renderFactList([
      ['Channel', channel],
      ['Samples', String(samples)],
      ['Required', `${formatShare(rate)} of the samples pass`],
      ['Most turns', String(limits.max_turns)],
      ['Reply within', turnMs === undefined ? undefined : formatDuration(turnMs)],
      ['Session within', totalMs === undefined ? undefined : formatDuration(totalMs)],
      ['Seed', seed, 'text'],
    ])}
    ${
      sent.length !== 0 &&
      html`<details>
        <summary>Sent to the sandbox</summary>
        <pre>${cutText(JSON.stringify(Object.fromEntries(sent), null, 2), JSON_LENGTH_MAX)}</pre>
      </details>`
    }`;
}

/** CSS rules of the view of a scenario. */
export const SCENARIO_CSS = `
.text { white-space: pre-wrap; }
.steps li, .evals li { border-left: 3px solid var(--line); margin: 0.5rem 0; padding-left: 0.75rem; }
.run { background: var(--box); border: 1px solid var(--line); border-radius: 0.5rem;
  margin: 1rem 0; padding: 0.25rem 1rem 0.75rem; }
.run .field:has([name='agent']) { flex-basis: 22rem; }
.run .form { margin: 0; } .run h2 { margin: 0.75rem 0 0.25rem; }
`;
