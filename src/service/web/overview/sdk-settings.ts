import { capitalize } from '../../../report-kit/format.ts';
import { html, type Html } from '../../../report-kit/html.ts';
import type { SdkSettings } from '../../exporters/sdk-settings.ts';
import type { IngestLogEntry } from '../../store/store.ts';

/**
 * Renders what SDKs and instrumentations need so that the service can read their traces. Those that
 * sent something unreadable come first, and are open; the others are grouped by vendor.
 */
export function renderSdkSettings(
  all: readonly SdkSettings[],
  log: readonly Pick<IngestLogEntry, 'about'>[],
): Html {
  const seenNames = new Set(log.map(({ about }) => about['sdk']));
  const isSeen = ({ name }: SdkSettings): boolean => seenNames.has(name);
  const [others, seen] = [all.filter((each) => !isSeen(each)), all.filter(isSeen)];
  return html`<p>
      Some SDKs and instrumentations need further settings, so that the service can read their
      spans:
    </p>
    ${seen.map((settings) => renderSettings(settings, true))}
    ${[...Map.groupBy(others, vendorOf)]
      .sort(([left], [right]) => left.localeCompare(right, 'en'))
      .map(([vendor, group]) => renderVendor(vendor, group))}`;
}

/** Returns what the names of a vendor's packages have in common: `Traceloop (openai)` is of Traceloop. */
const vendorOf = ({ name }: SdkSettings): string =>
  capitalize(name.replace(/(?<=^Google) .*| (?:for|before|with|\(|\d).*/, ''));

function renderVendor(vendor: string, group: readonly SdkSettings[]): Html {
  const [first] = group;
  if (first && group.length === 1) return renderSettings(first, false);
  const sorted = group.toSorted((left, right) => left.name.localeCompare(right.name, 'en'));
  return html`<details>
    <summary>${vendor}</summary>
    <div class="nested">${sorted.map((settings) => renderSettings(settings, false))}</div>
  </details>`;
}

const renderSettings = ({ name, texts }: SdkSettings, isSeen: boolean): Html =>
  html`<details ${isSeen ? 'open' : ''}>
    <summary>
      ${capitalize(name)}${isSeen ? ': sent traces that the service can’t read' : ''}
    </summary>
    ${texts.map((text) => html`<p>${text}</p>`)}
  </details>`;
