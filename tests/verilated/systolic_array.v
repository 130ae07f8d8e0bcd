// Cycles of an output-stationary systolic array of ROWS x COLS multiply-accumulators, at least 2 x 2. A product of M x K
// by K x N is cut into folds, ROWS x COLS elements of the result each. A fold fills the array, streams K elements
// through it, and drains its results: (ROWS + COLS - 2) + K + ROWS cycles. The block keeps time; it holds no data.
module systolic_array #(
    parameter ROWS = 32,
    parameter COLS = 16
) (
    input  wire        clock,
    input  wire        reset,
    input  wire        start,  // in an idle cycle: the first cycle of a product
    input  wire [31:0] m,      // these three are not 0, and stay until the product is done
    input  wire [31:0] k,
    input  wire [31:0] n,
    output wire        busy,
    output reg         done    // in the cycle behind the last one of a product, which may start the next product
);
  localparam [1:0] IDLE = 0, FILL = 1, STREAM = 2, DRAIN = 3;
  localparam [31:0] FILL_CYCLES = ROWS + COLS - 2;

  reg [1:0] phase;
  reg [31:0] left;  // cycles of the phase, with the present one
  reg [31:0] row;   // of the result: where the fold begins
  reg [31:0] col;

  wire last_of_row = col + COLS >= n;
  wire last_fold = last_of_row && row + ROWS >= m;

  assign busy = phase != IDLE;

  always @(posedge clock) begin
    done <= 0;
    if (reset) begin
      phase <= IDLE;
    end else if (phase == IDLE) begin
      if (start) begin
        phase <= FILL;
        left <= FILL_CYCLES - 1;
        row <= 0;
        col <= 0;
      end
    end else if (left > 1) begin
      left <= left - 1;
    end else if (phase == FILL) begin
      phase <= STREAM;
      left <= k;
    end else if (phase == STREAM) begin
      phase <= DRAIN;
      left <= ROWS;
    end else if (last_fold) begin
      phase <= IDLE;
      done <= 1;
    end else begin
      phase <= FILL;
      left <= FILL_CYCLES;
      row <= last_of_row ? row + ROWS : row;
      col <= last_of_row ? 0 : col + COLS;
    end
  end
endmodule
