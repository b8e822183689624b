package peers;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.tokenattributes.CharTermAttribute;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause.Occur;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.MatchNoDocsQuery;
import org.apache.lucene.search.PhraseQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.search.TopScoreDocCollectorManager;
import org.apache.lucene.search.similarities.BM25Similarity;
import org.apache.lucene.store.MMapDirectory;

/** Lucene behind the protocol of this comparison: search in each mode. */
public final class LucenePeer implements Protocol.Searcher {
  private final IndexSearcher searcher;
  private final Words words = new Words();

  /** With more than one thread, a query is cut into slices, also within segments, and the caller works on them too. */
  private LucenePeer(Path path, int threads) throws IOException {
    DirectoryReader reader = DirectoryReader.open(new MMapDirectory(path));
    searcher = threads > 1 ? new Slicing(reader, threads) : new IndexSearcher(reader);
    searcher.setQueryCache(null); // queries repeat here, and would be answered from it
    searcher.setSimilarity(new BM25Similarity()); // k1 = 1.2, b = 0.75
  }

  /** Twice as many slices as threads: short ones fill the gaps that long ones leave. */
  private static final class Slicing extends IndexSearcher {
    private static final int DOCUMENTS_MIN = 10_000;
    private final int threads;

    Slicing(DirectoryReader reader, int threads) {
      super(reader, Executors.newFixedThreadPool(threads - 1, task -> {
        Thread thread = new Thread(task, "search");
        thread.setDaemon(true);
        return thread;
      }));
      this.threads = threads;
    }

    @Override
    protected LeafSlice[] slices(List<LeafReaderContext> leaves) {
      int documents = leaves.stream().mapToInt(leaf -> leaf.reader().maxDoc()).sum();
      // The constructor of the superclass asks before the number of threads is known here.
      int slices = 2 * Math.max(threads, 1);
      int each = Math.max((documents + slices - 1) / slices, DOCUMENTS_MIN);
      return slices(leaves, each, Integer.MAX_VALUE, true);
    }
  }

  private Query query(String text, Protocol.Operator operator) throws IOException {
    List<String> terms = new ArrayList<>();
    try (TokenStream tokens = words.tokenStream("body", text)) {
      CharTermAttribute term = tokens.addAttribute(CharTermAttribute.class);
      tokens.reset();
      while (tokens.incrementToken()) {
        String word = term.toString();
        if (operator == Protocol.Operator.PHRASE || !terms.contains(word)) terms.add(word);
      }
      tokens.end();
    }
    if (terms.isEmpty()) return new MatchNoDocsQuery();
    if (terms.size() == 1) return new TermQuery(new Term("body", terms.get(0)));
    if (operator == Protocol.Operator.PHRASE) return new PhraseQuery("body", terms.toArray(new String[0]));
    Occur occur = operator == Protocol.Operator.AND ? Occur.MUST : Occur.SHOULD;
    BooleanQuery.Builder clauses = new BooleanQuery.Builder();
    for (String term : terms) clauses.add(new TermQuery(new Term("body", term)), occur);
    return clauses.build();
  }

  @Override
  public void search(String text, Protocol.Mode mode, Protocol.Found found) throws IOException {
    Query query = query(text, mode.operator());
    found.best = -1;
    if (mode.k() == 0) {
      found.count = searcher.count(query);
      return;
    }
    // With a threshold of k hits, Lucene skips documents as early as possible; with the largest one, it counts all.
    int threshold = mode.counts() ? Integer.MAX_VALUE : mode.k();
    TopDocs top = searcher.search(query, new TopScoreDocCollectorManager(mode.k(), null, threshold));
    found.count = mode.counts() ? top.totalHits.value() : top.scoreDocs.length;
    if (top.scoreDocs.length > 0) {
      found.best = top.scoreDocs[0].doc;
      found.score = top.scoreDocs[0].score;
    }
  }

  @Override
  public String url(int document) throws IOException {
    return searcher.storedFields().document(document).get("url");
  }

  public static void main(String[] arguments) throws Exception {
    switch (arguments[0]) {
      case "index" -> Build.index(arguments);
      case "serve" -> {
        int threads = arguments.length > 4 ? Protocol.number(arguments, "--threads") : 1;
        Protocol.serve(new LucenePeer(Path.of(arguments[1]), threads), arguments[2], Path.of(arguments[3]));
      }
      default -> throw new IllegalArgumentException("there is no command `" + arguments[0] + "`");
    }
  }
}
