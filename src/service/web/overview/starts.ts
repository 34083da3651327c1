import { html, type Html } from '../../../report-kit/html.ts';
import { linkTo, type PageContext } from '../frame/page-frame.ts';

/** Anchor of the settings of exporters on the overview. */
export const EXPORTER_ANCHOR = 'send-traces';

/** Renders the three ways to begin with a service that has no data. */
export function renderStarts(context: PageContext): Html {
  const starts = [
    {
      title: 'Test your agent',
      text: 'Check it, load-test it, and let simulated users talk to it.',
      link: linkTo(context, '/agents'),
      action: 'Add an agent',
    },
    {
      title: 'Score production conversations',
      text: 'Point your OpenTelemetry exporter at this service.',
      link: `#${EXPORTER_ANCHOR}`,
      action: 'Send traces',
    },
    {
      title: 'Score stored conversations',
      text: 'Upload them as JSON, JSONL, or CSV.',
      link: linkTo(context, '/transcripts'),
      action: 'Upload conversations',
    },
  ];
  return html`<ul class="starts" aria-label="Ways to begin">
    ${starts.map(
      ({ title, text, link, action }) =>
        html`<li>
          <h2>${title}</h2>
          <p>${text}</p>
          <p><a href="${link}">${action}</a></p>
        </li>`,
    )}
  </ul>`;
}

export const STARTS_CSS = `
.starts { display: grid; gap: 0.75rem; grid-template-columns: repeat(auto-fit, minmax(15rem, 1fr));
  margin: 1rem 0; }
.starts li { background: var(--box); border: 1px solid var(--line); border-radius: 0.5rem;
  padding: 0.75rem 1rem; }
.starts h2 { font-size: 1rem; margin: 0; }
`;
