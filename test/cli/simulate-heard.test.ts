/** `simulate --voice` with an endpoint that transcribes calls. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { run } from '../support/commands/command.ts';
import { assertPlain, readSimulationReport } from '../support/commands/simulate-command.ts';
import {
  startTranscriptionServer,
  transcriptionResponses,
} from '../support/models/transcription-server.ts';
import { withReferenceAgent } from '../support/sandboxes/reference-agent.ts';

void t.test(
  'the endpoint of the environment hears the agent; its key is in no output',
  { timeout: 60_000 },
  async (t) => {
    const { agent } = await withReferenceAgent(t);
    const server = await startTranscriptionServer(t);
    server.respondWith(transcriptionResponses.text('We are open'));
    const files = t.testdir();
    const json = join(files, 'run.json');
    const result = await run(
      ['simulate', agent.url, '--voice', '--scenario', 'opening-hours', '--json', json],
      {
        env: {
          SANDBOX_KIT_TRANSCRIBE_URL: server.baseUrl,
          SANDBOX_KIT_TRANSCRIBE_MODEL: 'small',
          SANDBOX_KIT_TRANSCRIBE_API_KEY: 'sk-of-transcription',
        },
      },
    );
    assertPlain(t, result);
    t.match(result.stdout, /^Turn-taking in 1 call:\n {2}Response latency +p50 /m);
    t.match(result.stdout, /^Heard: 1 call; /m);
    t.match(server.requests[0], { authorization: 'Bearer sk-of-transcription', model: 'small' });
    const report = readSimulationReport(t, json);
    t.match(report.heard, { calls: 1 });
    t.equal(report.sessions[0]?.heard?.replies[0]?.heard, 'We are open');
    const outputs = [result.stdout, result.stderr, readFileSync(json)];
    t.notMatch(outputs.join(), /sk-of-transcription/);
  },
);
