// What is known of the selected step, exchange, fault or report.

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import {
  type Body as RecordedBody,
  type Exchange,
  type Fault,
  imageAddress,
  type Judgement,
  loadLine,
  type Prompt,
  type Step,
  type Trial,
} from "./data";
import { bytes, plural, seconds, usd } from "./format";
import { Block, Definition, type Loaded, useDocument, Wait } from "./parts";
import { Screenshot } from "./screenshot";
import type { Item } from "./trial";

interface Props {
  item: Item;
  trial: Trial;
  judgement: Judgement;
  run: number;
  id: string;
  onSelect: (seq: number) => void;
}

export function Detail(props: Props): JSX.Element {
  const { item } = props;
  switch (item.lane) {
    case "steps":
      return <StepDetail {...props} step={item.step} />;
    case "requests":
      return <ExchangeDetail {...props} exchange={item.exchange} />;
    case "faults":
      return <FaultDetail {...props} fault={item.fault} />;
    case "end":
      return (
        <>
          <h2>End</h2>
          <Definition
            pairs={[
              ["outcome", props.trial.outcome],
              ["recovery", props.judgement.recovery || "—"],
              ["score", props.trial.reasons.join(" ") || "—"],
            ]}
          />
          <h3>Last answer</h3>
          <Block text={props.trial.answer ?? "none"} />
        </>
      );
    case "other":
      return (
        <>
          <h2>{item.moment.kind.replaceAll("_", " ")}</h2>
          <p class="url">{item.moment.text}</p>
          <Raw {...props} seq={item.seq} />
        </>
      );
    case "page":
      return (
        <>
          <h2>The page reports: {item.report.what}</h2>
          <Definition
            pairs={[["injection", item.report.injection], ["detail", item.report.detail || "—"]]}
          />
          <Raw {...props} seq={item.seq} />
        </>
      );
  }
}

function StepDetail(props: Props & { step: Step }): JSX.Element {
  const { step } = props;
  return (
    <>
      <h2>Step {step.number}</h2>
      {step.error && <p class="problem">{step.error}</p>}
      <Definition
        pairs={[
          ["page", step.page || "—"],
          ["model", step.model],
          ["time", `${seconds(step.t)}, ${seconds(step.end - step.t)} long`],
          ["tokens", `${step.input_tokens ?? "—"} in, ${step.output_tokens ?? "—"} out`],
          ["cost", usd(props.judgement.costs[step.seq])],
          [
            "faults since the step before",
            <FaultLinks
              faults={props.trial.faults.filter((fault) => step.faults.includes(fault.id))}
              onSelect={props.onSelect}
            />,
          ],
        ]}
      />
      <h3>Actions</h3>
      <Block text={step.actions.join("\n") || "none could be read"} />
      <h3>Answer</h3>
      <Block text={step.answer || "none"} />
      {step.images.map((reference) => (
        <a key={reference} href={imageAddress(props.run, props.id, reference)}>
          <Screenshot {...props} step={step} reference={reference} class="screenshot" />
        </a>
      ))}
      <PromptDiff {...props} />
      <Raw {...props} seq={step.seq} title="The call as recorded" />
    </>
  );
}

function PromptDiff(props: Props & { step: Step }): JSX.Element {
  const prompt = useDocument<Prompt>(`prompt/${props.run}/${props.id}/${props.step.seq}`);
  return (
    <>
      <h3>Prompt, compared with the step before</h3>
      <Wait of={prompt}>
        {({ characters, parts }) => (
          <>
            <p class="quiet">{plural(characters, "character")}.</p>
            {parts.map((part, place) => {
              const lines = part.text.split("\n").length;
              const more = part.left_out ? `\n… ${part.left_out.toLocaleString("en")} more characters` : "";
              const title = `${part.role}: ${plural(lines, "line")} ${part.change === "equal" ? "as before" : part.change}`;
              return part.change === "equal" ? (
                <details key={place} class="message">
                  <summary>{title}</summary>
                  <Block text={part.text + more} />
                </details>
              ) : (
                <div key={place} class="message">
                  <small>{title}</small>
                  <Block class={`block ${part.change}`} text={part.text + more} />
                </div>
              );
            })}
          </>
        )}
      </Wait>
    </>
  );
}

function FaultLinks(props: { faults: Fault[]; onSelect: Props["onSelect"] }): JSX.Element {
  if (props.faults.length === 0) return <>none</>;
  return (
    <ul class="plain">
      {props.faults.map((fault) => (
        <li key={fault.id}>
          <button type="button" class="link" onClick={() => props.onSelect(fault.seq)}>
            {fault.id} {fault.kind} by rule {fault.rule}
          </button>
        </li>
      ))}
    </ul>
  );
}

function ExchangeDetail(props: Props & { exchange: Exchange }): JSX.Element {
  const { exchange, trial } = props;
  const faults = trial.faults.filter((fault) => fault.request_seq === exchange.seq);
  return (
    <>
      <h2>
        {exchange.method} <span class="url">{exchange.url}</span>
      </h2>
      <Definition
        pairs={[
          ["answer", String(exchange.status ?? exchange.error ?? "none")],
          ["from", exchange.by ?? "—"],
          ["kind", exchange.resource],
          ["time", `${seconds(exchange.t)}, ${exchange.end === null ? "no end" : `${seconds(exchange.end - exchange.t)} long`}`],
          ["size", bytes(exchange.size)],
          ["faults", <FaultLinks faults={faults} onSelect={props.onSelect} />],
        ]}
      />
      <Head {...props} seq={exchange.seq} title="Request" />
      {exchange.response_seq !== null && (
        <Head {...props} seq={exchange.response_seq} title="Answer" />
      )}
    </>
  );
}

function FaultDetail(props: Props & { fault: Fault }): JSX.Element {
  const { fault } = props;
  const judged = props.judgement.verdicts[fault.id];
  const link = (seq: number | null, words: string) =>
    seq === null ? "—" : (
      <button type="button" class="link" onClick={() => props.onSelect(seq)}>{words}</button>
    );
  return (
    <>
      <h2>
        {fault.kind} <small>{fault.id}</small>
      </h2>
      <Definition
        pairs={[
          ["planned", `${seconds(fault.t)} by rule ${fault.rule}`],
          ["on", <span class="url">{fault.url}</span>],
          ["then", `${fault.fate}${fault.reason ? `: ${fault.reason}` : ""}${fault.waited_s ? `, held ${seconds(fault.waited_s)}` : ""}`],
          ["recovery", judged ? `${judged.verdict.replaceAll("_", " ")} (${judged.confidence})` : "not judged"],
          ["reason", judged?.why || "—"],
          ["step that recovers", link(judged?.call_seq ?? null, "show the step")],
          ["request that recovers", link(judged?.request_seq ?? null, "show the request")],
        ]}
      />
      {fault.changes.length > 0 && (
        <div class="wide" tabIndex={0}>
          <table>
            <caption>What was changed or shown</caption>
            <thead>
              <tr>
                <th scope="col">where</th>
                <th scope="col">the site's</th>
                <th scope="col">the client's</th>
              </tr>
            </thead>
            <tbody>
              {fault.changes.map(([where, before, after], index) => (
                <tr key={index}>
                  <td>{where}</td>
                  <td>{before}</td>
                  <td>{after ?? "taken out"}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <Raw {...props} seq={fault.seq} title="The plan as recorded" />
      {fault.fate_seq !== null && (
        <Raw {...props} seq={fault.fate_seq} title="What became of it, as recorded" />
      )}
    </>
  );
}

function useLine(props: Props, seq: number, wanted = true): Loaded<Record<string, unknown>> {
  const [state, setState] = useState<Loaded<Record<string, unknown>>>({});
  useEffect(() => {
    setState({});
    if (!wanted) return;
    let isCurrent = true;
    loadLine(props.run, props.id, seq).then(
      (value) => isCurrent && setState({ value: value as Record<string, unknown> }),
      (error: Error) => isCurrent && setState({ error: error.message }),
    );
    return () => {
      isCurrent = false;
    };
  }, [props.run, props.id, seq, wanted]);
  return state;
}

function Head(props: Props & { seq: number; title: string }): JSX.Element {
  const line = useLine(props, props.seq);
  return (
    <>
      <h3>{props.title}</h3>
      <Wait of={line}>
        {(event) => {
          const headers = (event["headers"] ?? []) as [string, string][];
          return (
            <>
              {headers.length === 0 && <p class="quiet">No headers are recorded.</p>}
              {headers.length > 0 && (
                <div class="wide" tabIndex={0}>
                  <table class="headers">
                    <tbody>
                      {headers.map(([name, value], index) => (
                        <tr key={index}>
                          <th scope="row">{name}</th>
                          <td>{value}</td>
                        </tr>
                      ))}
                    </tbody>
                  </table>
                </div>
              )}
              {event["timings"] !== undefined && (
                <Block text={JSON.stringify(event["timings"], null, 1)} />
              )}
              <Body {...props} size={Number(event["size"] ?? 0)} isRecorded={Boolean(event["body_blob"])} />
            </>
          );
        }}
      </Wait>
    </>
  );
}

function Body(props: Props & { seq: number; title: string; size: number; isRecorded: boolean }): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const name = `body/${props.run}/${props.id}/${props.seq}`;
  const body = useDocument<RecordedBody>(isOpen && props.isRecorded ? name : null);
  if (!props.isRecorded) {
    return (
      <p class="quiet">
        {props.size > 0
          ? "The body is not recorded: --record-bodies keeps those of up to 4 MiB."
          : "It has no body."}
      </p>
    );
  }
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{props.title}: body</summary>
      {isOpen && (
        <Wait of={body}>
          {({ file, size, form, text, notes }) => (
            <>
              <p class="quiet url">{[`${bytes(size)} of ${form}, in ${file}.`, ...notes].join(" ")}</p>
              {text && <Block text={text} />}
            </>
          )}
        </Wait>
      )}
    </details>
  );
}

function Raw(props: Props & { seq: number; title?: string }): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const line = useLine(props, props.seq, isOpen);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{props.title ?? "As recorded"}, line {props.seq}</summary>
      {isOpen && (
        <Wait of={line}>{(event) => <Block text={JSON.stringify(event, null, 2)} />}</Wait>
      )}
    </details>
  );
}
