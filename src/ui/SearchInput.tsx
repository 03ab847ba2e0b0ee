import { Search } from 'lucide-react';
import { type ComponentProps, useEffect, useImperativeHandle, useRef } from 'react';
import styles from './SearchInput.module.css';

interface SearchInputProps
  extends Omit<ComponentProps<'input'>, 'className' | 'type' | 'value' | 'defaultValue' | 'onChange'> {
  /** Its accessible name. */
  label: string;
  value: string;
  onValueChange: (value: string) => void;
  /** Takes focus when it appears; for inputs that the person has just asked for. */
  focusOnMount?: boolean;
}

export function SearchInput({
  label,
  value,
  onValueChange,
  focusOnMount = false,
  ref,
  ...rest
}: SearchInputProps) {
  const input = useRef<HTMLInputElement>(null);
  useImperativeHandle<HTMLInputElement | null, HTMLInputElement | null>(ref, () => input.current, []);
  useEffect(() => {
    if (focusOnMount) input.current?.focus();
  }, [focusOnMount]);
  return (
    <span className={styles.frame}>
      <Search aria-hidden="true" />
      <input
        autoComplete="off"
        spellCheck={false}
        {...rest}
        ref={input}
        type="search"
        className={styles.input}
        aria-label={label}
        value={value}
        onChange={(event) => onValueChange(event.target.value)}
      />
    </span>
  );
}
