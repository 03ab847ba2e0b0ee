import { Combobox } from '@base-ui/react/combobox';
import { Check, ChevronsUpDown } from 'lucide-react';
import { type RefObject, useEffect, useId, useMemo, useRef } from 'react';
import styles from './MultiCombobox.module.css';

export interface ComboboxOption {
  readonly value: string;
  readonly label: string;
}

interface MultiComboboxProps {
  label: string;
  placeholder: string;
  /** Options with distinct values. */
  options: readonly ComboboxOption[];
  /** Values of the chosen ones. */
  chosen: ReadonlySet<string>;
  onChosenChange: (chosen: ReadonlySet<string>) => void;
  disabled?: boolean;
  /** Shown when no option matches the typed text. */
  noMatches: string;
  /** Returns the line below the options when there are more than are drawn. */
  moreThan: (shown: number) => string;
  /** Accessible name of the hidden buttons that close the list. */
  close: string;
}

/** Options drawn at once: with more of them, people type to find one. */
const optionsDrawn = 100;

/** A labelled choice of any number of options, found by typing. */
export function MultiCombobox(props: MultiComboboxProps) {
  const { chosen, disabled = false, options } = props;
  const inputId = useId();
  const field = useRef<HTMLDivElement>(null);
  const popup = useRef<HTMLDivElement>(null);
  const value = useMemo(() => options.filter((option) => chosen.has(option.value)), [options, chosen]);
  return (
    <Combobox.Root
      multiple
      items={options}
      value={value}
      onValueChange={(next, { reason }) => {
        // Escape closes the list and keeps the choice.
        if (reason !== 'escape-key') props.onChosenChange(new Set(next.map((option) => option.value)));
      }}
      isItemEqualToValue={(one: ComboboxOption, other: ComboboxOption) => one.value === other.value}
      limit={optionsDrawn}
      disabled={disabled}
      autoHighlight
    >
      <div ref={field} className={styles.field}>
        <label className={styles.label} htmlFor={inputId}>
          {props.label}
        </label>
        <Combobox.InputGroup className={styles.frame}>
          <Combobox.Input
            id={inputId}
            className={styles.input}
            // Its label is hidden from screen readers while the options are open.
            aria-label={props.label}
            placeholder={props.placeholder}
            autoComplete="off"
            spellCheck={false}
            dir="auto"
          />
          <Combobox.Trigger className={styles.trigger} tabIndex={-1} aria-label={props.placeholder}>
            <ChevronsUpDown aria-hidden="true" />
          </Combobox.Trigger>
        </Combobox.InputGroup>
      </div>
      <Combobox.Portal>
        <Combobox.Positioner ref={popup} className={styles.positioner} sideOffset={4} collisionPadding={8}>
          <CloseButtonNames name={props.close} places={[field, popup]} />
          <Combobox.Popup className={styles.popup}>
            <Combobox.Empty className={styles.empty}>{props.noMatches}</Combobox.Empty>
            <Combobox.List className={styles.list}>
              {(option: ComboboxOption) => (
                <Combobox.Item key={option.value} value={option} className={styles.item}>
                  <span className={styles.mark}>
                    <Combobox.ItemIndicator>
                      <Check aria-hidden="true" />
                    </Combobox.ItemIndicator>
                  </span>
                  <bdi className={styles.name}>{option.label}</bdi>
                </Combobox.Item>
              )}
            </Combobox.List>
            {options.length > optionsDrawn && <p className={styles.more}>{props.moreThan(optionsDrawn)}</p>}
          </Combobox.Popup>
        </Combobox.Positioner>
      </Combobox.Portal>
    </Combobox.Root>
  );
}

/** Renames the hidden buttons around an open list: Base UI calls them "Dismiss" in every language. */
function CloseButtonNames({
  name,
  places,
}: {
  name: string;
  places: readonly RefObject<HTMLElement | null>[];
}) {
  useEffect(() => {
    const buttons = places.flatMap(({ current }) => [
      ...(current?.querySelectorAll('[role=button][aria-label=Dismiss]') ?? []),
    ]);
    for (const button of buttons) button.setAttribute('aria-label', name);
  });
  return null;
}
