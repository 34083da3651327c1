import { html, type Html } from '../../../report-kit/html.ts';
import type { PageContext } from './page-frame.ts';

/** The variable with the API key of the service, which no page shows. */
const KEY_VARIABLE = 'SANDBOX_KIT_SERVICE_API_KEY';

/** Returns the start of a command that sends JSON to `/__admin`. */
export const formatCurl = ({ keyHeader }: PageContext): string =>
  `curl -X POST -H 'content-type: application/json'` +
  (keyHeader === undefined ? '' : ` -H "${keyHeader}: $${KEY_VARIABLE}"`);

/** Renders what to do before such a command; nothing on loopback. */
export function renderKeyHint({ keyHeader }: PageContext): Html | undefined {
  if (keyHeader === undefined) return undefined;
  return html`<p>First set <code>${KEY_VARIABLE}</code> to the first API key of this service.</p>`;
}
