import { quoteArgument } from '../../../platform/shell.ts';
import { html, type Html } from '../../../report-kit/html.ts';
import type { Scenario, SimulationRequest } from '../../../contract/index.ts';
import type { SimulationPlan } from '../../store/store.ts';
import { formatCurl, renderKeyHint } from '../frame/commands.ts';
import type { PageContext } from '../frame/page-frame.ts';

/** The most characters of the request: a longer one does not fit on a command line. */
const REQUEST_LENGTH_MAX = 20_000;

/** Returns the request that starts a simulation again, with the scenarios as they were. */
export function toRepeatRequest({
  agent,
  seed,
  samples,
  channel,
  concurrency,
  scenarios,
}: SimulationPlan): SimulationRequest {
  return {
    agent,
    seed,
    concurrency,
    ...(samples !== undefined && { samples }),
    ...(channel !== undefined && { channel }),
    // A plan has at least one scenario.
    scenarios: scenarios.map(({ scenario, persona, evals }) => ({
      ...scenario,
      persona: { ...persona },
      evals: evals.map((definition) => ({ ...definition })),
    })) as [Scenario, ...Scenario[]],
  };
}

/** Renders the command that starts a simulation again, with the scenarios as they were. */
export function formatRepeatCommand(plan: SimulationPlan, context: PageContext): Html {
  const { serviceUrl, owner } = context;
  const { name, seed, scenarios } = plan;
  const body = JSON.stringify({ name, ...toRepeatRequest(plan) });
  const query = owner === undefined ? '' : `?owner=${encodeURIComponent(owner)}`;
  if (body.length > REQUEST_LENGTH_MAX) {
    return html`<p>
      Send <code>POST /__admin/simulations${query}</code> with the seed <code>${seed}</code> and the
      same ${scenarios.length} scenarios. They are too long for a command.
    </p>`;
  }
  const command = [
    formatCurl(context),
    quoteArgument(`${serviceUrl}/__admin/simulations${query}`),
    ...['-d', quoteArgument(body)],
  ].join(' ');
  return html`<p>
      The same seed gives the same simulated users. Add <code>"api_key"</code> to the agent if its
      sandbox needs one.
    </p>
    ${renderKeyHint(context)}
    <pre>${command}</pre>`;
}
