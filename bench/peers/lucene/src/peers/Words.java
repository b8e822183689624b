package peers;

import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.analysis.LowerCaseFilter;
import org.apache.lucene.analysis.Tokenizer;
import org.apache.lucene.analysis.util.CharTokenizer;

/** Maximal runs of alphanumeric code points in lower case: the words of all engines here. */
final class Words extends Analyzer {
  private static final boolean[] ASCII = new boolean[128];
  static {
    for (int c = 0; c < ASCII.length; c++) ASCII[c] = isAlphanumeric(c);
  }

  @Override
  protected TokenStreamComponents createComponents(String field) {
    Tokenizer words = CharTokenizer.fromTokenCharPredicate(c -> c < 128 ? ASCII[c] : isAlphanumeric(c));
    return new TokenStreamComponents(words, new LowerCaseFilter(words));
  }

  /** As Rust's char::is_alphanumeric: alphabetic, or of a general category N. */
  private static boolean isAlphanumeric(int c) {
    int category = Character.getType(c);
    return Character.isAlphabetic(c)
        || category == Character.DECIMAL_DIGIT_NUMBER
        || category == Character.LETTER_NUMBER
        || category == Character.OTHER_NUMBER;
  }
}
