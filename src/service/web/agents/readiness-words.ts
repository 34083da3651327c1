import { html, type Html } from '../../../report-kit/html.ts';
import type { AgentReadiness } from '../../operations/agent-readiness.ts';
import { describeReadiness } from '../../operations/readiness-report.ts';

const CLASSES = { yes: 'passed', no: 'failed', unknown: 'undecided' } as const;

/** Renders whether an agent is ready, and why not, in a sentence. */
export function renderReadiness(readiness: AgentReadiness): Html {
  const { headline, reasons } = describeReadiness(readiness);
  return html`<b class="${CLASSES[readiness.readiness]}">${headline}</b> ${reasons}`;
}
