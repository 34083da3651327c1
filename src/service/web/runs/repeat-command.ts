import { quoteArgument } from '../../../platform/shell.ts';
import { html, type Html } from '../../../report-kit/html.ts';
import type { SimulationPlan } from '../../store/store.ts';
import { formatCurl, renderKeyHint } from '../frame/commands.ts';
import type { PageContext } from '../frame/page-frame.ts';

/** The most characters of the request: a longer one does not fit on a command line. */
const REQUEST_LENGTH_MAX = 20_000;

/** Renders the command that starts a simulation again, with the scenarios as they were. */
export function formatRepeatCommand(plan: SimulationPlan, context: PageContext): Html {
  const { serviceUrl, owner } = context;
  const { name, agent, seed, samples, channel, concurrency, scenarios } = plan;
  const request = {
    ...{ name, agent, seed, concurrency },
    ...(samples !== undefined && { samples }),
    ...(channel !== undefined && { channel }),
    scenarios: scenarios.map(({ scenario, persona, evals }) => ({ ...scenario, persona, evals })),
  };
  const body = JSON.stringify(request);
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
