import { capitalize } from '../../../report-kit/format.ts';
import { html, type Html } from '../../../report-kit/html.ts';
import { renderVerdict } from '../../../report-kit/verdict.ts';
import type { AgentReadiness } from '../../operations/agent-readiness.ts';
import { describeReadiness } from '../../operations/readiness-report.ts';

const CLASSES = { yes: 'passed', no: 'failed', unknown: 'undecided' } as const;

/** Renders whether an agent is ready, and why not, in a sentence. */
export function renderReadiness(readiness: AgentReadiness): Html {
  const { headline, reasons } = describeReadiness(readiness);
  // In a badge, the headline is not the start of a sentence.
  const word = headline.replace(/[:.]$/, '');
  return html`${renderVerdict(CLASSES[readiness.readiness], word)} ${capitalize(reasons)}`;
}
