import { SERVICE_API_KEY_HEADER } from '../../contract/index.ts';
import { runDiagnosis } from '../../library/run-diagnosis.ts';
import { argument, defineCommand, type ValuesOf } from '../command.ts';
import { exitCodes } from '../errors.ts';
import * as common from '../flags/shared-options.ts';
import * as values from '../flags/values.ts';
import { callOptions } from '../flags/voice-options.ts';
import { writeJsonOutput } from '../input/files.ts';
import { readAccess } from './check.ts';
import { openOutputs } from '../output/outputs.ts';
import { createTerminal } from '../output/terminal.ts';

const positionals = { url: argument(values.sandboxUrl, 'Base URL of the sandbox or service') };

const options = {
  area: common.targetAreas,
  json: { ...common.jsonReport, help: 'Write the diagnosis as JSON; - for stdout' },
  ...common.sandboxAccess,
  'api-key-header': common.apiKeyHeader,
  'voice-url': { ...callOptions['voice-url'], group: 'Options' },
  'timeout-ms': common.timeoutMs,
};

export const doctor = defineCommand({
  description: [
    'Tests the address, TLS, the API key, and one request per endpoint, and names the first problem with its fix.',
  ],
  arguments: positionals,
  options,
  examples: [
    { command: 'sandbox-kit doctor https://sandbox.example.com' },
    { command: 'sandbox-kit doctor https://localhost:8443 --ca sandbox-kit-ca.pem' },
    { command: 'sandbox-kit doctor SERVICE_URL --area service' },
  ],
  environment: {
    ...common.sandboxKeyVariable,
    ...common.serviceKeyVariable,
    ...common.accessVariables,
  },
  exitCodes: { 0: 'reachable', 3: 'not reachable' },
  async run(flags, { process }) {
    const { url, area, json, 'voice-url': voiceUrl } = flags;
    const conformance = await import('../../../conformance/index.ts');
    const access = readAccess(flags, process.env);
    const out = openOutputs({ json }, process);
    const progress = createTerminal(process.stderr, process.env);
    progress.live('Testing the endpoints. Without responses, this takes a minute or more.');
    const diagnosis = await runDiagnosis({
      url,
      areas: area,
      ...access,
      timeoutMs: flags['timeout-ms'],
      voice: { url: voiceUrl },
    });
    progress.live('');
    out.write(conformance.diagnosisText(diagnosis, formatCheckCommand(flags), out));
    if (json !== undefined) {
      writeJsonOutput(json, conformance.diagnosisJson(diagnosis, url), '--json', process.stdout);
    }
    return diagnosis.blockedBy ? exitCodes.notJudged : exitCodes.ok;
  },
});

/** Returns the check command with the same access options. */
function formatCheckCommand(flags: ValuesOf<typeof positionals & typeof options>): string {
  const header = flags['api-key-header'];
  const parts = [
    ['--area', flags.area?.join(',')],
    ['--ca', flags.ca],
    ['--header-file', flags['header-file']],
    ['--cert', flags.cert],
    ['--key', flags.key],
    ['--key-passphrase-file', flags['key-passphrase-file']],
    ['--voice-url', flags['voice-url']],
    ['--api-key-file', flags['api-key-file']],
    ['--api-key-header', header === SERVICE_API_KEY_HEADER ? undefined : header],
  ].flatMap(([name, value]) => (value === undefined ? [] : [`${name} ${value}`]));
  const waiver = flags['allow-http'] ? ['--allow-http'] : [];
  return ['sandbox-kit check', flags.url, ...parts, ...waiver].join(' ');
}
