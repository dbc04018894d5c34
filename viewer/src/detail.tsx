// What is known of the selected step, exchange, fault or report.

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { type Exchange, type Fault, imageAddress, loadLine, type Step, type Trial } from "./data";
import { bytes, seconds, usd } from "./format";
import { Block, Definition, type Loaded, Wait } from "./parts";
import type { Item } from "./trial";

interface Props {
  item: Item;
  trial: Trial;
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
          ["cost", usd(step.cost_usd)],
          ["faults since the step before", step.faults.join(", ") || "none"],
        ]}
      />
      <h3>Actions</h3>
      <Block text={step.actions.join("\n") || "none could be read"} />
      <h3>Answer</h3>
      <Block text={step.answer || "none"} />
      {step.images.map((reference) => (
        <a key={reference} href={imageAddress(props.run, props.id, reference)}>
          <img
            class="screenshot"
            src={imageAddress(props.run, props.id, reference)}
            alt={`Screenshot in the prompt of step ${step.number}`}
          />
        </a>
      ))}
      <h3>New in the prompt</h3>
      <p class="quiet">Of {step.characters.toLocaleString("en")} characters.</p>
      {step.prompt.map((message, index) => (
        <div key={index} class="message">
          <small>{message.role}</small>
          <Block class="block added" text={message.text} />
        </div>
      ))}
      <Raw {...props} seq={step.seq} title="The call as recorded" />
    </>
  );
}

function ExchangeDetail(props: Props & { exchange: Exchange }): JSX.Element {
  const { exchange, trial } = props;
  const faults = trial.faults.filter((fault) => fault.exchange === exchange.id);
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
          [
            "faults",
            faults.length === 0
              ? "none"
              : faults.map((fault) => (
                  <button
                    type="button"
                    class="link"
                    key={fault.id}
                    onClick={() => props.onSelect(fault.seq)}
                  >
                    {fault.id} {fault.kind} by rule {fault.rule}
                  </button>
                )),
          ],
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
          ["recovery", fault.verdict ? `${fault.verdict.replaceAll("_", " ")} (${fault.confidence})` : "not judged"],
          ["reason", fault.why || "—"],
          ["step that recovers", link(fault.call_seq, "show the step")],
          ["request that recovers", link(fault.request_seq, "show the request")],
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
            </>
          );
        }}
      </Wait>
    </>
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
